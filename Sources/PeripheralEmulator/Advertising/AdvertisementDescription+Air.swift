internal import PeripheralCore
internal import PeripheralTesting

extension AdvertisementDescription {
    /// The most bytes of a legacy advertisement.
    private static let legacyCapacity = 31
    /// The most bytes of an extended advertisement, as the controllers of the recordings have it.
    private static let extendedCapacity = 251

    /// The advertisement as bluetoothd and the kernel put it together.
    ///
    /// - Parameter deviceName: The adapter's name.
    /// - Returns: `nil` when it is too long, or demands what the kernel refuses.
    func encoded(deviceName: String) -> VirtualAdvertisement? {
        // The kernel wants to add an appearance that bluetoothd has added already.
        guard !includes.contains("appearance") else { return nil }
        let usesExtended = isSentExtended
        let nameIsInData = usesExtended && isPeripheral
        let own = data.generated(name: nameIsInData ? localName : nil, appearance: appearance)
        let response = nameIsInData ? [] : self.response.generated(name: localName, appearance: nil)
        guard own.count <= data.capacity, response.count <= self.response.capacity,
            fitsIntoMessage(own, response), own.count <= kernelCapacity
        else { return nil }

        let air = withKernelFields(own)
        let capacity = usesExtended ? Self.extendedCapacity : Self.legacyCapacity
        guard air.count <= capacity, response.count <= capacity else { return nil }
        return VirtualAdvertisement(
            advertisingData: air,
            scanResponse: nameIsInData ? [] : withAdapterName(response, deviceName),
            isConnectable: isPeripheral
        )
    }

    /// Newer versions advertise what is too long for a legacy advertisement in an extended one.
    ///
    /// They count before they add the appearance and the name.
    private var isSentExtended: Bool {
        guard isExtended else { return false }
        if secondaryChannel != nil { return true }
        return version >= .automaticExtendedAdvertising
            && data.generated(name: nil, appearance: nil).count > Self.legacyCapacity
    }

    /// Before 5.87, bluetoothd miscounts the length of its message to the kernel, in a byte.
    ///
    /// Real ones may end by what follows.
    private func fitsIntoMessage(_ own: [UInt8], _ response: [UInt8]) -> Bool {
        let head = version < BlueZVersion(major: 5, minor: 87) ? 11 : 3
        return own.count + response.count + head <= Int(UInt8.max)
    }

    /// The kernel keeps room for the power.
    private var kernelCapacity: Int {
        (isExtended ? Self.extendedCapacity : Self.legacyCapacity) - (includes.contains("tx-power") ? 3 : 0)
    }

    /// The kernel puts flags in front where there are none, and the power behind; on older adapters only what fits.
    private func withKernelFields(_ own: [UInt8]) -> [UInt8] {
        if isExtended, own.isEmpty { return [] }
        let capacity = isExtended ? Self.extendedCapacity : Self.legacyCapacity
        var air = own
        if data.flags == nil, own.count + 3 <= capacity { air = [2, 0x01, Self.notClassic] + air }
        if includes.contains("tx-power"), air.count + 3 <= capacity { air += [2, 0x0A, 0] }
        return air
    }

    /// The kernel adds the adapter's name, or the first ten bytes of it.
    private func withAdapterName(_ response: [UInt8], _ deviceName: String) -> [UInt8] {
        guard localName == nil, includes.contains("local-name"), response.count + 12 <= Self.legacyCapacity
        else {
            return response
        }
        let name = Array(deviceName.utf8)
        let sent = name.prefix(10)
        return response + [UInt8(sent.count + 1), name.count > sent.count ? 0x08 : 0x09] + sent
    }
}
