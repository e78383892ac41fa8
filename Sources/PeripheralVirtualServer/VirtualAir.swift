/// The advertisements of a ``VirtualGATTServer``, and the centrals that wait for one.
struct VirtualAir: Sendable {
    typealias Scanner = CheckedContinuation<Void, any Error>

    private var advertisements: [AdvertisementID: VirtualAdvertisement] = [:]
    /// The advertisements that a connection has stopped.
    private var interrupted: Set<AdvertisementID> = []
    private var scanners: [Int: Scanner] = [:]

    /// The advertisements on the air, in the order in which they were added.
    var audible: [VirtualAdvertisement] {
        advertisements.filter { !interrupted.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
    }

    var isConnectable: Bool {
        advertisements.contains { $0.value.isConnectable && !interrupted.contains($0.key) }
    }

    subscript(id: AdvertisementID) -> VirtualAdvertisement? {
        get { advertisements[id] }
        set {
            advertisements[id] = newValue
            if newValue == nil { interrupted.remove(id) }
        }
    }

    mutating func interrupt() {
        interrupted = Set(advertisements.keys)
    }

    mutating func resume() {
        interrupted = []
    }

    mutating func clear() {
        advertisements = [:]
        interrupted = []
    }

    mutating func addScanner(_ scanner: Scanner, id: Int) {
        scanners[id] = scanner
    }

    mutating func removeScanner(_ id: Int) -> Scanner? {
        scanners.removeValue(forKey: id)
    }

    /// Removes and returns the centrals whose wait is over.
    mutating func takeServedScanners() -> [Scanner] {
        guard isConnectable else { return [] }
        defer { scanners = [:] }
        return Array(scanners.values)
    }
}
