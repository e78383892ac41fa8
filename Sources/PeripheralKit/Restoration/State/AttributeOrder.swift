internal import PeripheralCore

/// The order of the attributes of each service on the air.
///
/// The earlier attributes come first in their earlier order. The new attributes follow.
///
/// This order keeps the handles of the earlier attributes. The attributes of a service have no gaps, because
/// the Bluetooth stack may make a service exactly as large as its contents.
struct AttributeOrder {
    /// The indices of the characteristics in the declaration, for each service by its index.
    private var characteristics: [[Int]] = []
    /// The indices of the descriptors in the declaration, for each service and characteristic by their
    /// indices.
    private var descriptors: [[[Int]]] = []

    /// - Parameters:
    ///   - table: The declaration, in the declared order.
    ///   - old: The earlier table.
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
                    // The order of several formats determines the part of the value that each format
                    // describes.
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

    /// Sorts the contents of services into this order.
    ///
    /// The services are either declared services or services of the table.
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

/// A service whose contents can be sorted.
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
extension CharacteristicDescription: DescriptorHolder {}

extension DescriptorDescription {
    fileprivate var isPresentationFormat: Bool { uuid == .characteristicPresentationFormat }
}
