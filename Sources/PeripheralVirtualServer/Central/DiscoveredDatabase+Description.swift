internal import PeripheralCore

extension DiscoveredDatabase: CustomStringConvertible {
    /// The services as a table, with one line for each attribute.
    ///
    /// Each line begins with the handle of the attribute. The handle of a characteristic is the handle of its
    /// value.
    ///
    /// ```
    /// 0x0010-0x0013  service 180f
    ///   0x0012  characteristic 2a19 [read, notify]
    ///     0x0013  descriptor 2902
    /// ```
    public var description: String {
        services.map(\.description).joined(separator: "\n")
    }
}

extension DiscoveredService: CustomStringConvertible {
    /// The service with its characteristics, with one line for each attribute.
    public var description: String {
        let kind = isPrimary ? "service" : "secondary service"
        let includes = includedServices.map { ", includes the service at \($0)" }.joined()
        let first = "\(handles.lowerBound)-\(handles.upperBound)  \(kind) \(uuid)\(includes)"
        let others = characteristics.flatMap { $0.description.split(separator: "\n") }.map { "  \($0)" }
        return ([first] + others).joined(separator: "\n")
    }
}

extension DiscoveredCharacteristic: CustomStringConvertible {
    /// The characteristic with its descriptors, with one line for each attribute.
    ///
    /// The handle in the first line is the handle of the value.
    public var description: String {
        let first = "\(valueHandle)  characteristic \(uuid) \(properties)"
        return ([first] + descriptors.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension DiscoveredDescriptor: CustomStringConvertible {
    /// The descriptor as one line of text.
    public var description: String { "\(handle)  descriptor \(uuid)" }
}
