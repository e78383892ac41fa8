internal import PeripheralCore
internal import PeripheralKit

/// Tracks a link after missed frames, until the link has shown that it works and then that it is empty.
///
/// After a gap, an empty link looks like a link that does not work. Therefore missing updates count as
/// completed after a while. At most ``mostUnproven`` updates count in this way until the link has shown that
/// it works. This bounds the additional updates in flight, however often frames are missed. Beyond the bound,
/// one update at a time is released after ``longestPatience``, so no update waits forever.
struct FrameLossRecovery {
    /// The largest number of updates that may count as completed without having been observed.
    static let mostUnproven = 16
    /// The number of successive looks that show that a link is empty.
    private static let quietLooks = 2
    /// The number of looks at a working link after which all earlier missing updates are completed.
    private static let completingLooks = 20
    /// The number of looks without any sign of the link until some updates count as completed.
    ///
    /// This number doubles each time.
    private static let (shortestPatience, longestPatience) = (4, 160)
    /// The patience up to which looks follow one another quickly.
    private static let hastyPatience = 16

    /// The longest connection interval, in quick looks.
    private static let longestPause = 160

    /// The conclusion from a look.
    enum Verdict: Equatable {
        case wait
        /// Some outstanding updates now count as completed.
        ///
        /// The associated value is the number of updates that now count as completed.
        case release(Int)
        /// The link of the central has shown no activity for a long time.
        ///
        /// The session stops waiting for the oldest outstanding update to the central. Otherwise, the central
        /// could delay updates to other centrals.
        case releaseOfDeserted
        /// All updates are completed, and the recovery is over.
        case resolved
    }

    let central: Central.ID
    /// The number of updates that count as completed and may be in flight.
    private var unproven = 0
    /// The number of missing updates that are certainly completed.
    private var completions = 0
    private var hasSeenAny = false
    /// Whether the link has shown that it works since the last missed frame.
    private(set) var works = false
    private var looks = (quiet: 0, silent: 0, completing: 0)
    private var patience = shortestPatience
    /// The largest number of successive looks without traffic between two looks with traffic.
    private var longestPause = 0
    private var pause = 0

    init(of central: Central.ID) {
        self.central = central
    }

    var isUrgent: Bool { patience <= Self.hastyPatience }

    /// Records that frames were missed again.
    mutating func missed() {
        (works, looks.quiet) = (false, 0)
    }

    /// Records that bluetoothd receives another update.
    mutating func given() {
        looks.quiet = 0
    }

    /// Records that the completion of an update was observed.
    ///
    /// It is unknown which update this was. The recovery assumes the oldest update that may be in flight.
    mutating func completed() {
        if unproven > 0 { unproven -= 1 } else { completions += 1 }
        (works, hasSeenAny) = (true, true)
        looks.quiet = 0
    }

    /// Records a look.
    ///
    /// - Parameters:
    ///   - isBusy: Whether the link contains packets; `nil` if its packets may wait for other links.
    ///   - hasCompleted: Whether the link has carried packets since the last look.
    ///   - missing: The number of updates that are not completed.
    /// - Returns: The conclusion.
    mutating func looked(isBusy: Bool?, hasCompleted: Bool, missing: Int) -> Verdict {
        if let isBusy { looks.quiet = isBusy ? 0 : looks.quiet + 1 }
        if hasCompleted {
            works = true
            looks.completing += 1
            patience = Self.shortestPatience
            (longestPause, pause) = (max(longestPause, pause), 0)
        } else {
            pause = missing > 0 ? min(pause + 1, Self.longestPause) : 0
        }
        if let isBusy { looks.silent = isBusy || hasCompleted ? 0 : looks.silent + 1 }
        // A slow link seems empty between two packets if some of its packets were missed.
        if works, unproven == 0, looks.quiet >= max(Self.quietLooks, longestPause + 2) { return .resolved }
        if looks.completing >= Self.completingLooks { return judgeWorkingLink(missing) }
        guard looks.silent >= patience, missing > 0 else { return .wait }
        let isLongest = patience == Self.longestPatience
        (looks.silent, patience) = (0, min(patience * 2, Self.longestPatience))
        let released = min(missing, Self.mostUnproven - unproven)
        guard released > 0 else { return isLongest ? .releaseOfDeserted : .wait }
        return release(released)
    }

    /// Judges a link that works, but never becomes empty.
    private mutating func judgeWorkingLink(_ missing: Int) -> Verdict {
        // Updates that were assumed to be in flight would have been completed first.
        if !hasSeenAny { unproven = 0 }
        let released = min(missing, hasSeenAny ? completions : Self.mostUnproven)
        (looks.completing, hasSeenAny) = (0, false)
        return released > 0 ? release(released) : .wait
    }

    private mutating func release(_ count: Int) -> Verdict {
        let proven = min(count, completions)
        completions -= proven
        unproven += count - proven
        return .release(count)
    }
}
