internal import PeripheralCore

extension CharacteristicDeclaration {
    /// The name of the characteristic in messages, such as `characteristic 2a6e "Outside"`.
    ///
    /// The quotation is the beginning of the constant user description, which a developer recognizes sooner
    /// than a UUID.
    var name: String {
        let description = descriptors.first { $0.uuid == .characteristicUserDescription }
        guard case .value(let bytes) = description?.access.readSources.first else {
            return "characteristic \(uuid)"
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let beginning = text.longestPrefix(ofUTF8ByteCount: 40)
        return "characteristic \(uuid) \"\(beginning)\(beginning.endIndex < text.endIndex ? "…" : "")\""
    }

    /// The name of the characteristic in issues, such as `characteristic 2a6e "Outside" of service 181a`.
    func name(in service: GATTService) -> String { "\(name) of service \(service.uuid)" }
}
