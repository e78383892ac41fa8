/// Why an advertisement does not fit on the air.
public struct AdvertisingBudgetError: Error, Hashable, Sendable {
    /// The first field that does not fit behind those before it.
    public var field: AdvertisingField
    /// How many bytes must go for all fields to fit.
    public var bytesOver: Int
    /// How many bytes there are for the fields.
    public var capacity: Int

    /// Creates an error.
    public init(field: AdvertisingField, bytesOver: Int, capacity: Int) {
        self.field = field
        self.bytesOver = bytesOver
        self.capacity = capacity
    }
}

extension AdvertisingBudgetError: CustomStringConvertible {
    /// What does not fit, and by how many bytes.
    public var description: String {
        """
        it takes \(capacity + bytesOver) bytes, \(bytesOver) more than fit; \
        the first part without room is the \(field)
        """
    }
}
