/// A server's database: every attribute of its services, with the handle that a central uses for it.
///
/// The same services always get the same handles, and they are those that BlueZ allocates: services follow
/// one another without a gap, and each is its declaration, its includes, and then, for each characteristic,
/// the declaration, the value, Client Characteristic Configuration if centrals can subscribe, Characteristic
/// Extended Properties if there are any, and the declared descriptors in their order.
public struct AttributeTable: Hashable, Sendable {
    /// The services, in the order of their handles.
    public let services: [ServiceDescription]
    /// Every attribute, in the order of the handles, which have no gaps.
    public let attributes: [Attribute]

    private let firstHandle: AttributeHandle
    private let layout: [ServiceLayout]

    /// Where a service's parts stand.
    private struct ServiceLayout: Hashable {
        var range: ClosedRange<AttributeHandle>
        var valueHandles: [AttributeHandle] = []
    }

    /// Allocates a handle for every attribute of the services.
    ///
    /// - Parameters:
    ///   - services: The services, in the order in which they are registered.
    ///   - firstHandle: The first handle to allocate: 0x0001, or the one behind a stack's own services.
    /// - Throws: ``AttributeTableError`` when the handles do not suffice, a service includes one that does not stand
    ///   before it, or the first handle is 0x0000.
    public init(
        services: [ServiceDescription],
        firstHandle: AttributeHandle = 0x0001
    ) throws(AttributeTableError) {
        guard firstHandle.rawValue != 0 else {
            throw .reservedHandle
        }
        var attributes: [Attribute] = []
        var layout: [ServiceLayout] = []
        for (index, service) in services.enumerated() {
            for included in service.includedServices where !(0..<index).contains(included) {
                throw .invalidInclude(included, service: service.uuid, at: index)
            }
            let start = Int(firstHandle.rawValue) + attributes.count
            guard let end = UInt16(exactly: start + service.attributeCount - 1) else {
                throw .handlesExhausted(service: service.uuid, at: index)
            }
            var allocation = ServiceLayout(
                range: AttributeHandle(rawValue: UInt16(start))...AttributeHandle(rawValue: end)
            )
            for (type, kind) in service.attributes(at: index) {
                let handle = AttributeHandle(rawValue: firstHandle.rawValue + UInt16(attributes.count))
                attributes.append(Attribute(handle: handle, type: type, kind: kind))
                if case .characteristicValue = kind {
                    allocation.valueHandles.append(handle)
                }
            }
            layout.append(allocation)
        }
        self.services = services
        self.attributes = attributes
        self.firstHandle = firstHandle
        self.layout = layout
    }

    /// All handles in use; `nil` when there are no services.
    public var handles: ClosedRange<AttributeHandle>? {
        guard let first = layout.first, let last = layout.last else {
            return nil
        }
        return first.range.lowerBound...last.range.upperBound
    }

    /// The attribute of a handle; `nil` when the handle is not in use.
    public subscript(handle: AttributeHandle) -> Attribute? {
        guard let handles, handles.contains(handle) else {
            return nil
        }
        return attributes[Int(handle.rawValue - firstHandle.rawValue)]
    }
}

// MARK: - Where things stand

// Indices are those of `services` and of the arrays in it; as with those arrays, others stop the program.
extension AttributeTable {
    /// The handles of a service, from its declaration to its last attribute.
    public func serviceRange(_ service: Int) -> ClosedRange<AttributeHandle> {
        layout[service].range
    }

    /// The handle of a characteristic's declaration.
    public func declarationHandle(service: Int, characteristic: Int) -> AttributeHandle {
        AttributeHandle(
            rawValue: valueHandle(service: service, characteristic: characteristic).rawValue - 1
        )
    }

    /// The handle of a characteristic's value.
    public func valueHandle(service: Int, characteristic: Int) -> AttributeHandle {
        layout[service].valueHandles[characteristic]
    }

    /// The handle of a characteristic's Client Characteristic Configuration descriptor.
    ///
    /// `nil` when centrals cannot subscribe to the characteristic.
    public func clientConfigurationHandle(service: Int, characteristic: Int) -> AttributeHandle? {
        guard services[service].characteristics[characteristic].properties.allowsSubscription else {
            return nil
        }
        return AttributeHandle(
            rawValue: valueHandle(service: service, characteristic: characteristic).rawValue + 1
        )
    }

    /// The handle of a declared descriptor.
    public func descriptorHandle(service: Int, characteristic: Int, descriptor: Int) -> AttributeHandle {
        let description = services[service].characteristics[characteristic]
        precondition(
            description.descriptors.indices.contains(descriptor),
            "the characteristic has no descriptor \(descriptor)"
        )
        let value = valueHandle(service: service, characteristic: characteristic).rawValue
        return AttributeHandle(
            rawValue: value + 1 + UInt16(description.properties.stackDescriptorCount) + UInt16(descriptor)
        )
    }
}
