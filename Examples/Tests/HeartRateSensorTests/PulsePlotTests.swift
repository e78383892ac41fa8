import PeripheralBattery
import PeripheralHeartRate
import Testing

@testable import heart_rate_sensor

@Suite(.timeLimit(.minutes(1)))
struct PulsePlotTests {
    @Test(arguments: [PulsePlot.minimumColumns, 80])
    func fitsTheScreen(columns: Int) {
        var plot = PulsePlot(battery: BatteryLevel(100))
        plot.caption = String(repeating: "word ", count: 30)
        for second in 0..<300 {
            let frame = plot.frame(columns: columns, at: Double(second))
            #expect(frame.count == PulsePlot.height)
            #expect(frame.count < 24 - 8, "the steps of the central stand above it")
            #expect(frame.allSatisfy { $0.withoutColor.count <= columns })
            plot.add(
                HeartRateMeasurement(
                    bpm: UInt16(second),
                    sensorContact: .detected,
                    energyExpended: 65535,
                    rrIntervals: [RRInterval(.milliseconds(500)), RRInterval(.milliseconds(500))]
                ),
                at: Double(second)
            )
        }
    }

    @Test func showsTheNumbers() {
        var plot = PulsePlot(battery: BatteryLevel(93))
        plot.add(
            HeartRateMeasurement(bpm: 72, energyExpended: 4, rrIntervals: [RRInterval(.seconds(1))]),
            at: 1
        )
        let numbers = plot.frame(columns: 80, at: 1)[0].withoutColor
        #expect(numbers == " ♡ 72 bpm   RR 1000 ms   energy 4 kJ   battery 93 %")
    }

    @Test func drawsABeatForEachInterval() {
        var trace = ElectrocardiogramTrace()
        for second in 1...5 {
            trace.add([0.5, 0.5], at: Double(second))
        }
        let topRow = trace.lines(columns: 70, rows: 6, at: 5)[0]
        let spikes = topRow.split(separator: " ").count
        #expect((7...9).contains(spikes))
    }

    @Test func beatsWithTheHeart() {
        var trace = ElectrocardiogramTrace()
        trace.add([0.8], at: 10)
        #expect(!trace.isBeating(at: 10.8))
        #expect(trace.isBeating(at: 11.2))
        #expect(!trace.isBeating(at: 11.6))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BrailleCanvasTests {
    @Test func drawsDots() {
        var canvas = BrailleCanvas(columns: 2, rows: 1)
        #expect(canvas.lines == ["  "])
        canvas.drawColumn(0, from: 0, to: 0)
        canvas.drawColumn(3, from: 3, to: 0)
        #expect(canvas.lines == ["\u{2801}\u{28B8}"])
    }

    @Test func leavesOutWhatIsOutside() {
        var canvas = BrailleCanvas(columns: 1, rows: 1)
        canvas.drawColumn(-1, from: 0, to: 0)
        canvas.drawColumn(2, from: 0, to: 0)
        canvas.drawColumn(0, from: -9, to: -2)
        canvas.drawColumn(1, from: 4, to: 9)
        #expect(canvas.lines == [" "])
    }
}

extension String {
    /// The text without the codes that take up no room on the screen.
    fileprivate var withoutColor: String {
        split(separator: "\u{1B}", omittingEmptySubsequences: false).enumerated().map { index, part in
            index == 0 ? String(part) : String(part.drop { $0 != "m" }.dropFirst())
        }.joined()
    }
}
