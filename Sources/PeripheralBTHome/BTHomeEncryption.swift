public import PeripheralKit

/// The encryption of the BTHome packets of one device.
///
/// ```swift
/// let encryption = BTHomeEncryption(
///     key: key,
///     address: address,
///     firstCounter: try file.read()
/// ) { next in
///     try file.write(next)
/// }
/// let advertisement = try Advertisement.bthome([.temperature(21.5)], encryption: encryption)
/// ```
///
/// [BTHome](https://bthome.io/encryption) encrypts packets with AES-128 in the mode CCM. Each packet contains
/// a
/// counter of 4 bytes and a check value of 4 bytes, so 8 bytes less remain for objects.
///
/// ## The counter
///
/// A device must never use a counter twice with the same key. Otherwise the packets reveal their content, and
/// receivers refuse packets with an earlier counter. The program therefore stores a counter:
///
/// - Before the encryption uses a counter for the first time, it reserves 256 counters. The closure `reserve`
///   stores the first counter after the reserved counters, durably.
/// - At the next start, the program passes the stored counter as `firstCounter`. A restart skips the counters
///   that were reserved and not used.
///
/// The counters last for 4 billion packets.
public final class BTHomeEncryption: Sendable {
    private let cipher: CCM
    private let address: DeviceAddress
    private let counters: BTHomeCounters

    /// Creates the encryption of a device.
    ///
    /// - Parameters:
    ///   - key: The key that the device and its receivers share.
    ///   - address: The address that receivers see, which is part of the encryption. On BlueZ, a connectable
    ///     advertisement has the address of the adapter, unless `main.conf` sets `Privacy`.
    ///   - firstCounter: The counter that the last call of `reserve` has stored, or 0 for a new key.
    ///   - reserve: A closure that stores a counter. If the closure throws an error, the packet is not
    ///     encrypted. The calls follow one another, and the closure must not use the encryption.
    public init(
        key: BTHomeKey,
        address: DeviceAddress,
        firstCounter: UInt32,
        reserve: @escaping @Sendable (_ next: UInt32) throws -> Void
    ) {
        cipher = CCM(key: key)
        self.address = address
        counters = BTHomeCounters(from: firstCounter, reserve: reserve)
    }

    /// Encrypts the objects of a packet.
    ///
    /// - Parameters:
    ///   - objects: The bytes of the objects.
    ///   - information: The device information byte.
    /// - Returns: The encrypted objects, the counter and the check value.
    /// - Throws: The error of `reserve`, or `BTHomeError` after the last counter.
    func seal(_ objects: [UInt8], information: UInt8) throws -> [UInt8] {
        let counter = try counters.next().littleEndianBytes
        let uuid: [UInt8] = [0xD2, 0xFC]
        let nonce = address.littleEndianBytes.reversed() + uuid + [information] + counter
        let sealed = cipher.seal(objects, nonce: nonce)
        return sealed.message + counter + sealed.check
    }
}
