/// The attribute database of a peripheral: every attribute of its services, with its handle.
///
/// The table always allocates the same handles for the same services. BlueZ allocates the same handles too. A
/// service that is pinned to a handle starts at that handle. Any other service follows all earlier services
/// in the list.
///
/// A service has these attributes, in this order:
///
/// 1. The declaration of the service.
/// 2. The includes of the service.
/// 3. For each characteristic:
///    - the declaration of the characteristic
///    - the value of the characteristic
///    - Client Characteristic Configuration, if centrals can subscribe
///    - Characteristic Extended Properties, if the characteristic has any
///    - the declared descriptors, in the order of the declaration
public struct AttributeTable: Hashable, Sendable {
    /// The services, in the order in which they are registered.
    public let services: [ServiceDescription]
    /// Every attribute, in handle order.
    ///
    /// The handles of a service have no gaps. There can be gaps between services.
    public let attributes: [Attribute]

    /// Indexed like the services.
    private let layout: [ServiceLayout]
    /// In handle order.
    private let blocks: [Block]

    /// The handles of a service and of its values.
    private struct ServiceLayout: Hashable {
        var range: ClosedRange<AttributeHandle>
        var valueHandles: [AttributeHandle] = []
    }

    /// The handles of one service.
    private struct Block: Hashable {
        var range: ClosedRange<AttributeHandle>
        var service: Int
        /// The index of the block's first attribute in `attributes`.
        var firstAttribute = 0
    }

    /// Allocates a handle for every attribute of the services.
    ///
    /// - Parameters:
    ///   - services: The services, in the order in which they are registered.
    ///   - firstHandle: The first handle to allocate: 0x0001, or the handle after the stack's own services. A
    ///     pinned service may have a lower handle.
    /// - Throws: ``AttributeTableError`` in these cases:
    ///   - There are not enough handles.
    ///   - Two services claim the same handle.
    ///   - A service includes a service that is not before it in the list.
    ///   - A handle is 0x0000.
    public init(
        services: [ServiceDescription],
        firstHandle: AttributeHandle = 0x0001
    ) throws(AttributeTableError) {
        guard firstHandle.rawValue != 0 else {
            throw .reservedHandle()
        }
        var blocks: [Block] = []
        var next = Int(firstHandle.rawValue)
        for (index, service) in services.enumerated() {
            for included in service.includedServices where !(0..<index).contains(included) {
                throw .invalidInclude(included, service: service.uuid, at: index)
            }
            let range = try service.range(at: index, next: next)
            let position = blocks.partitioningIndex { $0.range.lowerBound > range.upperBound }
            if position > 0, blocks[position - 1].range.overlaps(range) {
                let other = services[blocks[position - 1].service].uuid
                throw .handleCollision(range, service: service.uuid, at: index, with: other)
            }
            blocks.insert(Block(range: range, service: index), at: position)
            next = max(next, Int(range.upperBound.rawValue) + 1)
        }
        var attributes: [Attribute] = []
        var layout = [ServiceLayout?](repeating: nil, count: services.count)
        for index in blocks.indices {
            let (range, service) = (blocks[index].range, blocks[index].service)
            blocks[index].firstAttribute = attributes.count
            var allocation = ServiceLayout(range: range)
            for (offset, (type, kind)) in services[service].attributes(at: service).enumerated() {
                let handle = AttributeHandle(rawValue: range.lowerBound.rawValue + UInt16(offset))
                attributes.append(Attribute(handle: handle, type: type, kind: kind))
                if case .characteristicValue = kind {
                    allocation.valueHandles.append(handle)
                }
            }
            layout[service] = allocation
        }
        self.services = services
        self.attributes = attributes
        self.layout = layout.compactMap(\.self)
        self.blocks = blocks
    }

    /// The range from the first to the last handle in use, or `nil` without services.
    public var handles: ClosedRange<AttributeHandle>? {
        guard let first = blocks.first, let last = blocks.last else {
            return nil
        }
        return first.range.lowerBound...last.range.upperBound
    }

    /// Returns the index of a handle in ``attributes``, or `nil` if the handle is unused.
    ///
    /// The search time grows with the logarithm of the number of services.
    public func index(of handle: AttributeHandle) -> Int? {
        let position = blocks.partitioningIndex { $0.range.upperBound >= handle }
        guard position < blocks.endIndex, blocks[position].range.contains(handle) else {
            return nil
        }
        let block = blocks[position]
        return block.firstAttribute + Int(handle.rawValue - block.range.lowerBound.rawValue)
    }

    /// The attribute with this handle, or `nil` if the handle is unused.
    public subscript(handle: AttributeHandle) -> Attribute? {
        index(of: handle).map { attributes[$0] }
    }
}

extension ServiceDescription {
    /// Returns the handles that the service occupies.
    fileprivate func range(
        at index: Int,
        next: Int
    ) throws(AttributeTableError) -> ClosedRange<AttributeHandle> {
        let start = handle.map { Int($0.rawValue) } ?? next
        guard start > 0 else {
            throw .reservedHandle(service: index)
        }
        guard let end = UInt16(exactly: start + attributeCount - 1) else {
            throw .handlesExhausted(service: uuid, at: index)
        }
        return AttributeHandle(rawValue: UInt16(start))...AttributeHandle(rawValue: end)
    }
}

extension Array {
    /// Returns the index of the first element of the second part of a partitioned array.
    fileprivate func partitioningIndex(where belongsToSecondPart: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if belongsToSecondPart(self[middle]) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}

// MARK: - Handles

// Indices refer to `services` and to the arrays in it. An invalid index stops the program, as with an array.
extension AttributeTable {
    /// Returns the handles of a service, from its declaration to its last attribute.
    public func serviceRange(_ service: Int) -> ClosedRange<AttributeHandle> {
        layout[service].range
    }

    /// Returns the attributes of a service, in handle order.
    public func attributes(ofService service: Int) -> ArraySlice<Attribute> {
        let first = index(of: layout[service].range.lowerBound) ?? attributes.endIndex
        return attributes[first...].prefix(services[service].attributeCount)
    }

    /// Returns the handle of a characteristic's declaration.
    public func declarationHandle(service: Int, characteristic: Int) -> AttributeHandle {
        AttributeHandle(
            rawValue: valueHandle(service: service, characteristic: characteristic).rawValue - 1
        )
    }

    /// Returns the handle of a characteristic's value.
    public func valueHandle(service: Int, characteristic: Int) -> AttributeHandle {
        layout[service].valueHandles[characteristic]
    }

    /// Returns the handle of a characteristic's Client Characteristic Configuration descriptor.
    ///
    /// Returns `nil` if centrals cannot subscribe to the characteristic.
    public func clientConfigurationHandle(service: Int, characteristic: Int) -> AttributeHandle? {
        guard services[service].characteristics[characteristic].properties.allowsSubscription else {
            return nil
        }
        return AttributeHandle(
            rawValue: valueHandle(service: service, characteristic: characteristic).rawValue + 1
        )
    }

    /// Returns the handle of a declared descriptor.
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
