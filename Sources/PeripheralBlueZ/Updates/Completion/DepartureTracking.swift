internal import PeripheralDBus

/// What is known of the updates that bluetoothd has been given, and by what.
///
/// A class, since the code that copies a value of all this would be larger than what uses it.
final class DepartureTracking {
    /// Those that have not left.
    var inFlight = InFlightUpdates()
    /// What sees updates leave; `nil` where nothing does.
    var watch: (any LinkWatch)?
    /// What concludes what has left where nothing sees it; `nil` where nothing does.
    var estimate: CompletionEstimate?
    /// At what pace updates count as having left where nothing tells; `nil` elsewhere, and without a limit.
    var pace: CompletionPace?
    /// Whose the connections are that are watched.
    var connections: [LinkState] = []
    /// When it is going to be looked at the links, or to be asked what the adapter has sent.
    var timer: LoopSource?
    /// Whether bluetoothd is being asked whether it is idle, for a look at the links.
    var isLooking = false

    /// Whether nothing is known of what has left.
    var isOff = true

    /// Forgets everything, and watches no more.
    func end() {
        watch?.close()
        timer?.cancel()
        (watch, timer, estimate, pace, isOff) = (nil, nil, nil, nil, true)
        (inFlight, connections, isLooking) = (InFlightUpdates(), [], false)
    }
}
