extension AdvertisementPayload {
    /// Distributes the fields over the advertising data and the scan response.
    ///
    /// As BlueZ does it: the local name goes to the scan response, everything else to the advertising data,
    /// in this order: service UUIDs of 16, 32 and 128 bits, manufacturer data by company, service data by
    /// UUID, appearance, flags, TX power. A name that does not fit is shortened, between two characters;
    /// nothing else is.
    ///
    /// - Throws: ``AdvertisingBudgetError`` when a field does not fit.
    public func encoded(
        within budget: AdvertisingBudget = .legacy
    ) throws(AdvertisingBudgetError) -> EncodedAdvertisement {
        var structures: [AdvertisingStructure] = []
        var byteCount = 0
        var excess = 0
        var misfit: AdvertisingField?
        for (field, type, bytes) in fields {
            byteCount += 2 + bytes.count
            excess = max(
                excess,
                byteCount - budget.advertisingData,
                bytes.count - AdvertisingStructure.maximumDataCount
            )
            if excess == 0, let structure = AdvertisingStructure(type, bytes) {
                structures.append(structure)
            } else {
                misfit = misfit ?? field
            }
        }
        if let misfit {
            throw AdvertisingBudgetError(
                field: misfit,
                bytesOver: excess,
                capacity: budget.advertisingData
            )
        }
        return EncodedAdvertisement(
            advertisingData: AdvertisingData(structures),
            scanResponse: try scanResponse(capacity: budget.scanResponse)
        )
    }

    private typealias Field = (AdvertisingField, AdvertisingStructure.DataType, [UInt8])

    /// The fields of the advertising data, in the order of BlueZ's `bt_ad_generate`.
    private var fields: [Field] {
        var fields: [Field] = []
        let lists: [(AdvertisingStructure.DataType, width: Int)] = [
            (.services16, 2), (.services32, 4), (.services128, 16),
        ]
        for (type, width) in lists {
            let list = services.map(\.littleEndianBytes).filter { $0.count == width }
            if !list.isEmpty {
                fields.append((.services, type, Array(list.joined())))
            }
        }
        for (company, data) in manufacturerData.sorted(by: { $0.key < $1.key }) {
            fields.append((.manufacturerData(company), .manufacturerData, company.gattBytes + data))
        }
        for (uuid, data) in serviceData.sorted(by: { $0.key < $1.key }) {
            let key = uuid.littleEndianBytes
            let type: AdvertisingStructure.DataType =
                switch key.count {
                case 2: .serviceData16
                case 4: .serviceData32
                default: .serviceData128
                }
            fields.append((.serviceData(uuid), type, key + data))
        }
        if let appearance {
            fields.append((.appearance, .appearance, appearance.gattBytes))
        }
        if let flags {
            fields.append((.flags, .flags, [flags.rawValue]))
        }
        if let txPower {
            fields.append((.txPower, .txPowerLevel, txPower.gattBytes))
        }
        return fields
    }

    private func scanResponse(capacity: Int) throws(AdvertisingBudgetError) -> AdvertisingData {
        guard let localName, !localName.isEmpty else {
            return AdvertisingData()
        }
        let room = min(capacity - 2, AdvertisingStructure.maximumDataCount)
        let sent = localName.longestPrefix(ofUTF8ByteCount: room)
        let isComplete = !isLocalNameShortened && sent.endIndex == localName.endIndex
        guard !sent.isEmpty,
            let structure = AdvertisingStructure(
                isComplete ? .completeLocalName : .shortenedLocalName,
                Array(sent.utf8)
            )
        else {
            throw AdvertisingBudgetError(
                field: .localName,
                bytesOver: localName.prefix(1).utf8.count - room,
                capacity: capacity
            )
        }
        return AdvertisingData([structure])
    }
}

extension String {
    /// The longest beginning that takes no more bytes in UTF-8 and ends between two characters.
    package func longestPrefix(ofUTF8ByteCount limit: Int) -> Substring {
        var byteCount = 0
        return prefix { character in
            byteCount += character.utf8.count
            return byteCount <= limit
        }
    }
}
