import ExampleSupport
import Testing

@testable import heart_rate_sensor

@Suite(.timeLimit(.minutes(1)))
struct TimeLimitTests {
    @Test(arguments: [("20s", 20), ("5m", 300), ("1h", 3600), ("2147483647h", 7_730_941_129_200)])
    func understands(text: String, seconds: Int64) {
        #expect(TimeLimit(argument: text)?.duration == .seconds(seconds))
    }

    @Test(arguments: ["", "s", "20", "0s", "-1s", "1.5s", "20 s", "20d", "2147483648s", "1s1s"])
    func refuses(text: String) {
        #expect(TimeLimit(argument: text) == nil)
    }
}
