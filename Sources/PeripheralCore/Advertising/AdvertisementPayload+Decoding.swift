extension AdvertisementPayload {
    /// Creates a payload from the advertising data that a scanner has received.
    ///
    /// The initializer ignores malformed structures. The initializer also ignores all structures that a
    /// payload cannot represent. The payload contains the UUIDs from all lists of service UUIDs. If the data
    /// contains a field more than once, the initializer applies the following rules:
    ///
    /// - The initializer uses the first occurrence of a field. The initializer decodes the advertising data
    ///   first, and then the scan response.
    /// - The initializer prefers a complete name to a shortened name.
    public init(advertisingData: AdvertisingData, scanResponse: AdvertisingData = AdvertisingData()) {
        self.init()
        for structure in advertisingData.structures + scanResponse.structures {
            take(structure)
        }
    }

    private mutating func take(_ structure: AdvertisingStructure) {
        let bytes = structure.data
        switch structure.type {
        case .flags:
            flags = flags ?? bytes.first.map(AdvertisingFlags.init(rawValue:))
        case .incompleteServices16, .services16:
            takeServices(bytes, width: 2)
        case .incompleteServices32, .services32:
            takeServices(bytes, width: 4)
        case .incompleteServices128, .services128:
            takeServices(bytes, width: 16)
        case .shortenedLocalName:
            takeLocalName(bytes, isShortened: true)
        case .completeLocalName:
            takeLocalName(bytes, isShortened: false)
        case .txPowerLevel:
            txPower = txPower ?? (try? Int8(gattBytes: bytes))
        case .appearance:
            appearance = appearance ?? (try? UInt16(gattBytes: bytes))
        case .manufacturerData:
            takeManufacturerData(bytes)
        case .serviceData16:
            takeServiceData(bytes, width: 2)
        case .serviceData32:
            takeServiceData(bytes, width: 4)
        case .serviceData128:
            takeServiceData(bytes, width: 16)
        default:
            break
        }
    }

    private mutating func takeServices(_ bytes: [UInt8], width: Int) {
        guard bytes.count.isMultiple(of: width) else {
            return
        }
        for start in stride(from: 0, to: bytes.count, by: width) {
            guard let uuid = BluetoothUUID(littleEndian: bytes[start..<start + width]),
                !services.contains(uuid)
            else {
                continue
            }
            services.append(uuid)
        }
    }

    private mutating func takeLocalName(_ bytes: [UInt8], isShortened: Bool) {
        guard !bytes.isEmpty, localName == nil || isLocalNameShortened && !isShortened else {
            return
        }
        // The sender may have cut the name inside a character. An incomplete character becomes U+FFFD.
        localName = String(decoding: bytes, as: UTF8.self)
        isLocalNameShortened = isShortened
    }

    private mutating func takeManufacturerData(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let company = try? reader.read(UInt16.self), manufacturerData[company] == nil else {
            return
        }
        manufacturerData[company] = reader.readRemaining()
    }

    private mutating func takeServiceData(_ bytes: [UInt8], width: Int) {
        guard bytes.count >= width, let uuid = BluetoothUUID(littleEndian: bytes.prefix(width)),
            serviceData[uuid] == nil
        else {
            return
        }
        serviceData[uuid] = Array(bytes.dropFirst(width))
    }
}
