import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct WakeupTests {
    /// A clock traps when it has to sleep until the end of time.
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1 << 60)])
    func aWakeupEndsTheLongestWait(_ time: Duration) async {
        let wakeup = Wakeup()
        async let wait: Void = wakeup.wait(atMost: time, by: Stopwatch(ContinuousClock()))
        wakeup.wake()
        await wait
    }
}
