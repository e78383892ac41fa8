/// One way by which bytes of others enter the framework.
struct Entrance: Sendable {
    /// The name, which is also that of its corpus and of its list of files.
    let name: String

    /// Decodes one input, and traps when a promise does not hold.
    let take: @Sendable ([UInt8]) -> Void

    static let all = [
        busMessages, requestOptions, monitorFrames, linkEvents, advertisingData, stateFiles,
        preservedStates, writtenDocuments, controlPoints, serviceValues,
    ]
}

/// Traps when a promise does not hold, which has libFuzzer write the input to a file.
func check(
    _ promise: Bool,
    _ message: @autoclosure () -> String = "",
    line: Int = #line,
    file: StaticString = #fileID
) {
    guard !promise else { return }
    fatalError("\(file):\(line): a promise does not hold. \(message())")
}

/// A fault that was planted to measure how long the fuzzer takes to find it.
///
/// It is there only in a build with `PLANTED_FAULTS=1` in the environment of `swift build`.
///
/// It shows when some bits of each of the first bytes are right. Each byte is compared on its own: one that
/// is right is new coverage, so that the fuzzer can go on from there. Without that, it would have to change
/// several at once. There is ASCII that fits, for texts.
///
/// - Parameters:
///   - decoded: Bytes of an input, as the decoder has given them.
///   - count: How many have to be right: 8 where any bytes come so far, 6 where few do, 4 where it takes a
///     name or several options.
///   - mask: Which bits have to be right: two, or one where the text of a whole file has to be well-formed.
func plantedFault(_ decoded: @autoclosure () -> [UInt8], count: Int, mask: UInt8 = 0x30) {
    #if PLANTED_FAULTS
        var bytes = decoded().makeIterator()
        func isNext(_ byte: UInt8) -> Bool { bytes.next().map { $0 & mask == byte & mask } ?? false }
        // Not a loop, in which each step would be at the same place.
        guard isNext(0x30) else { return }
        guard isNext(0x10) else { return }
        guard isNext(0x20) else { return }
        guard isNext(0x10) else { return }
        if count > 4 {
            guard isNext(0x30) else { return }
            guard isNext(0x20) else { return }
        }
        if count > 6 {
            guard isNext(0x30) else { return }
            guard isNext(0x20) else { return }
        }
        fatalError("the planted fault")
    #endif
}
