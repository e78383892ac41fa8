internal import PeripheralCore
internal import PeripheralTesting

extension AdvertisementDescription {
    /// The largest size of a legacy advertisement in bytes.
    private static let legacyCapacity = 31
    /// The largest size of an extended advertisement in bytes, on the controllers of the recordings.
    private static let extendedCapacity = 251

    /// Encodes the advertisement like bluetoothd and the kernel.
    ///
    /// - Parameter deviceName: The adapter's name.
    /// - Returns: The encoded advertisement; `nil` if it is too long or the kernel refuses it.
    func encoded(deviceName: String) -> VirtualAdvertisement? {
        // The kernel tries to add an appearance that bluetoothd has already added.
        guard !includes.contains("appearance"), let interval else { return nil }
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
            isConnectable: isPeripheral,
            interval: interval
        )
    }

    /// Whether the advertisement uses extended advertising.
    ///
    /// Newer versions also use it for an advertisement that is too long for legacy advertising. They count
    /// the bytes before they add the appearance and the name.
    private var isSentExtended: Bool {
        guard isExtended else { return false }
        if secondaryChannel != nil { return true }
        return version >= .automaticExtendedAdvertising
            && data.generated(name: nil, appearance: nil).count > Self.legacyCapacity
    }

    /// Whether the advertisement fits into bluetoothd's message to the kernel.
    ///
    /// The length of the message is one byte. Before 5.87, bluetoothd counts this length wrongly. A real
    /// bluetoothd may crash because of this.
    private func fitsIntoMessage(_ own: [UInt8], _ response: [UInt8]) -> Bool {
        let head = version < BlueZVersion(major: 5, minor: 87) ? 11 : 3
        return own.count + response.count + head <= Int(UInt8.max)
    }

    /// The capacity without the room that the kernel reserves for the transmission power.
    private var kernelCapacity: Int {
        (isExtended ? Self.extendedCapacity : Self.legacyCapacity) - (includes.contains("tx-power") ? 3 : 0)
    }

    /// Adds the kernel's fields: flags at the beginning if there are none, and the power at the end.
    ///
    /// On older adapters, the kernel adds only fields that fit.
    private func withKernelFields(_ own: [UInt8]) -> [UInt8] {
        if isExtended, own.isEmpty { return [] }
        let capacity = isExtended ? Self.extendedCapacity : Self.legacyCapacity
        var air = own
        if data.flags == nil, own.count + 3 <= capacity { air = [2, 0x01, Self.notClassic] + air }
        if includes.contains("tx-power"), air.count + 3 <= capacity { air += [2, 0x0A, 0] }
        return air
    }

    /// Adds the adapter's name like the kernel, or the first ten bytes of the name.
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
