internal import PeripheralCore
internal import PeripheralKit

extension AdvertisingPlan: CustomStringConvertible {
    /// A text table that describes the plan.
    ///
    /// The table contains one line for each structure, with the offset and the bytes of the structure. The
    /// lines at the end of the table describe the issues of the plan.
    public var description: String {
        var lines = [headline, pace]
        lines.append("advertising data, \(advertisingData.byteCount) of \(advertisingDataCapacity) bytes")
        lines += rows(in: .advertisingData)
        if scanResponseCapacity > 0 {
            lines.append("scan response, \(scanResponse.byteCount) of \(scanResponseCapacity) bytes")
            lines += rows(in: .scanResponse)
        }
        for issue in issues {
            lines.append("\(issue)")
        }
        return lines.joined(separator: "\n")
    }

    private var headline: String {
        let adapter = capabilities.isExtended ? "Bluetooth 5" : "Bluetooth 4"
        let way = isExtended ? "extended" : "legacy"
        let kind = isConnectable ? "connectable" : "broadcast"
        return "BlueZ \(capabilities.version) on a \(adapter) adapter: \(way) advertising, \(kind)"
    }

    private var pace: String {
        guard let interval else { return "interval of bluetoothd's configuration, by default 1280 ms" }
        let later = slowing.map { ", \($0.interval) after \($0.time)" } ?? ""
        return "interval \(interval)\(later)"
    }

    private func rows(in place: Place) -> [String] {
        var start = 0
        return entries.filter { $0.place == place }.map { entry in
            defer { start += entry.byteCount }
            let offset = Self.padded("\(start)", toCount: 5, atEnd: false)
            return "\(offset)  \(Self.padded(entry.shownBytes, toCount: 32))  \(entry)"
        }
    }

    private static func padded(_ text: String, toCount count: Int, atEnd: Bool = true) -> String {
        let padding = String(repeating: " ", count: max(0, count - text.count))
        return atEnd ? text + padding : padding + text
    }
}

extension AdvertisingPlan.Entry: CustomStringConvertible {
    /// A description of the structure, such as `local name "Lamp", shortened`.
    public var description: String {
        var text = "\(field)"
        if field == .localName { text += " \"\(String(decoding: data, as: UTF8.self))\"" }
        if isShortened { text += ", shortened" }
        switch source {
        case .declaration: break
        case .daemon: text += ", added by BlueZ"
        case .kernel: text += ", added by the kernel"
        }
        if isPlaceholder { text += ", whose value only the stack knows" }
        if !fits { text += ": does not fit" }
        return text
    }

    /// The bytes, or the first ones if there are many.
    fileprivate var shownBytes: String {
        let most = 10
        let shown = bytes.prefix(most).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return shown.joined(separator: " ") + (byteCount > most ? " …" : "")
    }
}
