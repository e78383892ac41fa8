/// How it is known when an update has left the device, and with it, how many are on their way at a time.
///
/// A Bluetooth stack may take whatever it is given and keep it until the link has carried it, which can take minutes. To be
/// new when it arrives, a value has to wait in the queue of its ``UpdatePolicy`` instead, until those before it have left.
public enum UpdatePacing: Hashable, Sendable {
    /// Each update is seen to leave.
    ///
    /// No more are on their way than the stack is to have at a time: on BlueZ 16 for each central, and 2 more of each further
    /// characteristic where the stack reaches all subscribers together only.
    case observed

    /// What has left is concluded from what the device has sent altogether.
    ///
    /// Other traffic and interruptions of links make the conclusion less sharp: on BlueZ, as many may be on their way to one
    /// central as to all of them together when each is ``observed``, and some of these once more for each time that a link has just
    /// been silent.
    case estimated

    /// Nothing tells what has left: an update counts as having left when a slow link would have carried it, when its
    /// central has shown that it has arrived, or, where the backend has no pace, as soon as the stack has taken it.
    case unknown
}

extension PeripheralSession {
    /// How it is known at this moment when an update has left the device.
    ///
    /// It may change when the peripheral is published again after it was off the air.
    public var pacing: UpdatePacing { runtime.updates.pacing }
}
