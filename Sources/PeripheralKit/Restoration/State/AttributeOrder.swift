internal import PeripheralCore

/// The order in which the attributes of each service stand on the air, so that those of before stay: first what was there, as
/// it was, then what is new.
///
/// The attributes of a service have no gaps: BlueZ makes each as large as what is in it.
struct AttributeOrder {
    /// By the place of the service: the places of its characteristics in the declaration.
    private var characteristics: [[Int]] = []
    /// By the places of the service and of the characteristic in the declaration: the places of its descriptors there.
    private var descriptors: [[[Int]]] = []

    /// - Parameters:
    ///   - table: What is declared, in the order of the declaration.
    ///   - old: What was published.
    init(of table: AttributeTable, after old: AttributeTable) {
        let match = DatabaseMatch(of: table, with: old)
        for (service, description) in table.services.enumerated() {
            characteristics.append(
                Self.order(of: description.characteristics.count) {
                    match.former[table.valueHandle(service: service, characteristic: $0)]
                }
            )
            descriptors.append(
                description.characteristics.enumerated().map { characteristic, description in
                    let count = description.descriptors.count
                    // The order of several formats says which part of the value each describes.
                    guard description.descriptors.count(where: \.isPresentationFormat) < 2 else {
                        return Array(0..<count)
                    }
                    return Self.order(of: count) {
                        match.former[
                            table.descriptorHandle(
                                service: service,
                                characteristic: characteristic,
                                descriptor: $0
                            )
                        ]
                    }
                }
            )
        }
    }

    private static func order(of count: Int, _ former: (Int) -> AttributeHandle?) -> [Int] {
        let places = (0..<count).map { (place: $0, former: former($0)) }
        let known = places.filter { $0.former != nil }.sorted { ($0.former ?? 0) < ($1.former ?? 0) }
        return (known + places.filter { $0.former == nil }).map(\.place)
    }

    /// The services, as they are declared or as they stand in the table, with their contents in this order.
    func arrange<Service: AttributeHolder>(_ services: [Service]) -> [Service] {
        services.enumerated().map { index, service in
            var service = service
            service.characteristics = characteristics[index].map { place in
                var characteristic = service.characteristics[place]
                characteristic.descriptors = descriptors[index][place].map { characteristic.descriptors[$0] }
                return characteristic
            }
            return service
        }
    }
}

/// A service, by whatever it is described, of which the contents can be put in an order.
protocol AttributeHolder {
    associatedtype HeldCharacteristic: DescriptorHolder

    var characteristics: [HeldCharacteristic] { get set }
}

/// A characteristic of such a service.
protocol DescriptorHolder {
    associatedtype HeldDescriptor

    var descriptors: [HeldDescriptor] { get set }
}

extension GATTService: AttributeHolder {}
extension ServiceDescription: AttributeHolder {}
extension CharacteristicDeclaration: DescriptorHolder {}
extension CharacteristicDescription: DescriptorHolder {}

extension DescriptorDescription {
    fileprivate var isPresentationFormat: Bool { uuid == .characteristicPresentationFormat }
}
