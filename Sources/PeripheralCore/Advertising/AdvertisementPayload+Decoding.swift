extension AdvertisementPayload {
    /// Takes the fields out of what a scanner has received.
    ///
    /// Structures that are malformed or of other types are passed over. Of a field that occurs twice the
    /// first counts, and those of the advertising data count before those of the scan response; a complete
    /// name counts before a shortened one, and lists of services are joined.
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
        // A sender may have cut the name inside a character; what is left of that one is shown as U+FFFD.
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
