/// The attribute database of a peripheral, with the handle of each attribute.
///
/// Every table allocates the same handles for the same services. BlueZ allocates handles by the same rules.
///
/// A pinned service is a service with a fixed start handle. A service that is not pinned has higher handles
/// than all earlier services in the list.
///
/// A service has the following attributes, in the order of this list:
///
/// 1. the declaration of the service
/// 2. the include declarations of the service
/// 3. for each characteristic:
///    - the characteristic declaration
///    - the characteristic value
///    - the Client Characteristic Configuration descriptor, if centrals can subscribe to the characteristic
///    - the Characteristic Extended Properties descriptor, if the characteristic has extended properties
///    - the descriptors that the program declares, in the order of their declarations
public struct AttributeTable: Hashable, Sendable {
    /// The services of the table, in the order of their registration.
    public let services: [ServiceDescription]
    /// All attributes of the table, in the order of their handles.
    ///
    /// The handles of one service are consecutive numbers. There can be unused handles between the handles of
    /// two services.
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

    /// Creates a table that allocates a handle for every attribute of the services.
    ///
    /// - Parameters:
    ///   - services: The services of the table, in the order of their registration.
    ///   - firstHandle: The first handle that the table allocates. If services of the Bluetooth stack occupy
    ///     the lowest handles, pass the handle that follows the last handle of these services. Otherwise pass
    ///     0x0001. A pinned service can start at a handle below `firstHandle`.
    /// - Throws: ``AttributeTableError`` in each of the following cases:
    ///   - The number of attributes exceeds the number of available handles.
    ///   - The handles of two services overlap.
    ///   - An index in `includedServices` does not identify an earlier service in the list.
    ///   - The value of `firstHandle`, or the start handle of a pinned service, is 0x0000.
    public init(
        services: [ServiceDescription],
        firstHandle: AttributeHandle = 0x0001
    ) throws(AttributeTableError) {
        try self.init(services: services, firstHandle: firstHandle, starts: [:])
    }

    /// Creates a table in which some services begin at given handles, whether they are pinned or not.
    ///
    /// - Parameters:
    ///   - services: The services of the table, in the order of their registration.
    ///   - firstHandle: The first handle that the table allocates.
    ///   - starts: The first handles of services, by the index of the service.
    /// - Throws: ``AttributeTableError``, as the public initializer.
    package init(
        services: [ServiceDescription],
        firstHandle: AttributeHandle = 0x0001,
        starts: [Int: AttributeHandle]
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
            let range = try service.range(at: index, from: starts[index] ?? service.handle, next: next)
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

    /// The range from the lowest to the highest used handle, or `nil` without services.
    public var handles: ClosedRange<AttributeHandle>? {
        guard let first = blocks.first, let last = blocks.last else {
            return nil
        }
        return first.range.lowerBound...last.range.upperBound
    }

    /// Returns the index of the attribute with the given handle.
    ///
    /// The index is a position in ``attributes``. The method returns `nil` if the handle is unused. The
    /// search time is proportional to the logarithm of the number of services.
    public func index(of handle: AttributeHandle) -> Int? {
        let position = blocks.partitioningIndex { $0.range.upperBound >= handle }
        guard position < blocks.endIndex, blocks[position].range.contains(handle) else {
            return nil
        }
        let block = blocks[position]
        return block.firstAttribute + Int(handle.rawValue - block.range.lowerBound.rawValue)
    }

    /// The attribute with the given handle, or `nil` if the handle is unused.
    public subscript(handle: AttributeHandle) -> Attribute? {
        index(of: handle).map { attributes[$0] }
    }
}

extension ServiceDescription {
    /// Returns the handles that the service occupies.
    fileprivate func range(
        at index: Int,
        from start: AttributeHandle?,
        next: Int
    ) throws(AttributeTableError) -> ClosedRange<AttributeHandle> {
        let start = start.map { Int($0.rawValue) } ?? next
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
    /// Returns the range of the handles of a service.
    ///
    /// The range extends from the service declaration to the last attribute.
    public func serviceRange(_ service: Int) -> ClosedRange<AttributeHandle> {
        layout[service].range
    }

    /// Returns the range of the handles that a pinned service has on the air.
    ///
    /// The method returns `nil` for a service that is not pinned, or that does not fit at its handle.
    package func pinnedRange(_ service: Int) -> ClosedRange<AttributeHandle>? {
        guard let start = services[service].handle else { return nil }
        return try? services[service].range(at: service, from: start, next: 0)
    }

    /// Returns the handle on the air of an attribute of a pinned service; `nil` for any other attribute.
    package func pinnedHandle(of attribute: Attribute) -> AttributeHandle? {
        let service = attribute.kind.service
        return pinnedRange(service).map { pinned in
            let offset = attribute.handle.rawValue - serviceRange(service).lowerBound.rawValue
            return AttributeHandle(rawValue: pinned.lowerBound.rawValue + offset)
        }
    }

    /// Returns the attributes of a service, in the order of their handles.
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
    /// The method returns `nil` if centrals cannot subscribe to the characteristic.
    public func clientConfigurationHandle(service: Int, characteristic: Int) -> AttributeHandle? {
        guard services[service].characteristics[characteristic].properties.allowsSubscription else {
            return nil
        }
        return AttributeHandle(
            rawValue: valueHandle(service: service, characteristic: characteristic).rawValue + 1
        )
    }

    /// Returns the handle of a descriptor that the program declares.
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
