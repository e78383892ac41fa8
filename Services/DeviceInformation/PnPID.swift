public import PeripheralKit

/// The vendor, the product number and the version of a product.
///
/// This type represents the value of the PnP ID characteristic, 0x2A50 (Device Information Service 1.1,
/// section 3.9).
///
/// ```swift
/// PnPID(vendor: .usb(0x1234), product: 0x0001, version: 0x0102)   // version 1.0.2
/// ```
public struct PnPID: Hashable, Sendable {
    /// The vendor of the product, and the organization that assigned the vendor number.
    public enum Vendor: Hashable, Sendable {
        /// A company identifier assigned by the Bluetooth SIG (Assigned Numbers, section 7.1).
        case bluetooth(UInt16)
        /// A vendor identifier assigned by the USB Implementer's Forum.
        case usb(UInt16)
    }

    /// The vendor of the product.
    public var vendor: Vendor

    /// The product number assigned by the vendor.
    public var product: UInt16

    /// The version of the product in binary-coded decimal.
    ///
    /// For example, the value 0xJJMN represents version JJ.M.N.
    public var version: UInt16

    /// Creates an identifier.
    ///
    /// - Parameters:
    ///   - vendor: The vendor of the product.
    ///   - product: The product number assigned by the vendor.
    ///   - version: The version of the product in binary-coded decimal, such as 0xJJMN for version JJ.M.N.
    public init(vendor: Vendor, product: UInt16, version: UInt16) {
        self.vendor = vendor
        self.product = product
        self.version = version
    }
}

extension PnPID: GATTValue {
    /// Reads seven bytes.
    ///
    /// - Throws: A `GATTDecodingError`, for example if the Vendor ID Source has a reserved value. The Vendor
    ///   ID Source is 1 for the Bluetooth SIG, and 2 for the USB Implementer's Forum.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let source: UInt8 = try reader.read()
        let identifier: UInt16 = try reader.read()
        vendor =
            switch source {
            case 1: .bluetooth(identifier)
            case 2: .usb(identifier)
            default: throw .invalidValue("\(source) is not a Vendor ID Source; the sources are 1 and 2")
            }
        product = try reader.read()
        version = try reader.read()
    }

    /// Appends seven bytes.
    public func encode(into writer: inout ByteWriter) {
        switch vendor {
        case .bluetooth(let identifier):
            writer.write(1 as UInt8)
            writer.write(identifier)
        case .usb(let identifier):
            writer.write(2 as UInt8)
            writer.write(identifier)
        }
        writer.write(product)
        writer.write(version)
    }
}
