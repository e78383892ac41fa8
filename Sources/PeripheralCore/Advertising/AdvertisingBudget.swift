/// How many bytes an advertisement may take.
public struct AdvertisingBudget: Hashable, Sendable {
    /// How many bytes the advertising data may take.
    public let advertisingData: Int
    /// How many bytes the scan response may take.
    public let scanResponse: Int

    /// Creates a budget; a negative number of bytes counts as 0.
    public init(advertisingData: Int, scanResponse: Int) {
        self.advertisingData = max(0, advertisingData)
        self.scanResponse = max(0, scanResponse)
    }

    /// Legacy advertising: 31 bytes each (Core Specification Vol 6, Part B, 2.3.1).
    public static let legacy = AdvertisingBudget(advertisingData: 31, scanResponse: 31)
}
