internal import PeripheralCore

/// A call that waits for room, with or without a value.
struct WaitingCall {
    var ticket: TransmitQueues.Ticket
    var characteristic: AttributeHandle
    var recipients: UpdateRecipients
    var fallback: UpdateFallback
    var value: [UInt8]?
    /// Whether there was no room when the call began.
    var hasWaited = false
    /// How often there was too little room for the value.
    var chances = 0

    /// How often a call without a value finds some room before the call has precedence.
    ///
    /// Other calls may use up the room each time.
    private static let mostChances = 8

    /// Whether other calls may no longer use the room that the call waits for.
    var isOverdue: Bool { value == nil && chances >= Self.mostChances }
}
