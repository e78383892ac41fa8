internal import PeripheralCore

/// The values that centrals are reading in parts.
///
/// A long read is one request for each part, and between two of them the value may change. Each central
/// therefore reads on in the value that it began with.
struct ReadSnapshots {
    private struct Key: Hashable {
        var central: Central
        var attribute: AttributeHandle
    }

    /// A central that never finishes its long reads must not fill the memory: the oldest value goes first.
    private let capacity: Int
    private var values: [Key: [UInt8]] = [:]
    private var order: [Key] = []

    init(capacity: Int = 64) {
        self.capacity = capacity
    }

    /// The value that the central has begun to read.
    func value(for request: ReadRequest) -> [UInt8]? {
        values[Key(central: request.central, attribute: request.attribute)]
    }

    /// Keeps the value that a central begins to read, when there will be further parts.
    mutating func begin(_ request: ReadRequest, with value: [UInt8]) {
        let key = Key(central: request.central, attribute: request.attribute)
        // A value that fills the packet is also followed by a request, which finds that nothing is left.
        let fitsIntoOnePacket = value.count < request.central.mtu - 1
        if values.removeValue(forKey: key) != nil {
            order.removeAll { $0 == key }
        }
        guard !fitsIntoOnePacket else { return }
        if order.count == capacity {
            values[order.removeFirst()] = nil
        }
        values[key] = value
        order.append(key)
    }
}
