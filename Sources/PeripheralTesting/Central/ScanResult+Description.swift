internal import PeripheralCore

extension ScanResult: CustomStringConvertible {
    /// The advertisement as one line of text, such as `C0:00:00:00:00:01 connectable, name "Lamp"`.
    ///
    /// The line ends with the sizes of the advertising data and of the scan response.
    public var description: String {
        let payload = payload
        var parts = ["\(address) \(isConnectable ? "connectable" : "not connectable")"]
        if let name = payload.localName {
            // The name comes from another device. The quotation escapes control characters.
            let kind = payload.isLocalNameShortened ? "shortened name" : "name"
            parts.append("\(kind) \(name.debugDescription)")
        }
        if !payload.services.isEmpty {
            parts.append("services \(payload.services.map(\.description).joined(separator: " "))")
        }
        if let appearance = payload.appearance { parts.append("appearance \(hexadecimal(appearance))") }
        if let power = payload.txPower { parts.append("power \(power) dBm") }
        for (company, data) in payload.manufacturerData.sorted(by: { $0.key < $1.key }) {
            parts.append("data of manufacturer \(hexadecimal(company)): \(data.count) bytes")
        }
        for (service, data) in payload.serviceData.sorted(by: { $0.key < $1.key }) {
            parts.append("data of service \(service): \(data.count) bytes")
        }
        parts.append("\(advertisingData.count) + \(scanResponse.count) bytes")
        return parts.joined(separator: ", ")
    }

    private func hexadecimal(_ number: UInt16) -> String {
        AttributeHandle(rawValue: number).description
    }
}
