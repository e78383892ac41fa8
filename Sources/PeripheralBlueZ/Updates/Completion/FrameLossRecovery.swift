internal import PeripheralCore
internal import PeripheralKit

/// What is known of a link after something went unseen, until it was seen to work and then to be empty.
///
/// Whoever has missed a part of what a link did cannot tell one that is empty from one on which nothing comes through. So
/// what is missing counts as having left after a while, but no more than ``mostUnproven`` until the link has shown that it
/// works: however often something goes unseen, so many more than otherwise are under way. Beyond that, one at a time is
/// let go after ``longestPatience``, so that nothing waits for ever.
struct FrameLossRecovery {
    /// How many may count as having left although that was not seen.
    static let mostUnproven = 16
    /// So many looks in a row show that a link is empty.
    private static let quietLooks = 2
    /// After so many looks that show that the link works, what was missing before has left.
    private static let completingLooks = 20
    /// The looks without any sign of the link, until some count as having left: twice as many each time.
    private static let (shortestPatience, longestPatience) = (4, 160)
    /// Until then, looks are worth a hurry.
    private static let hastyPatience = 16

    /// The longest connection interval, in looks that hurry.
    private static let longestPause = 160

    /// What a look has shown.
    enum Verdict: Equatable {
        case wait
        /// So many of those that are missing count as having left.
        case release(Int)
        /// The oldest counts as having left, and the central sets the pace of others no more.
        case releaseOfDeserted
        /// All have left, and the doubt is over.
        case resolved
    }

    let central: Central.ID
    /// How many count as having left that may be under way.
    private var unproven = 0
    /// How many of those that are missing have left for certain.
    private var completions = 0
    private var hasSeenAny = false
    /// Whether the link has been seen to work since something went unseen.
    private(set) var works = false
    private var looks = (quiet: 0, silent: 0, completing: 0)
    private var patience = shortestPatience
    /// The most looks in a row without anything carried, between two with.
    private var longestPause = 0
    private var pause = 0

    init(of central: Central.ID) {
        self.central = central
    }

    var isUrgent: Bool { patience <= Self.hastyPatience }

    /// Takes note that something went unseen again.
    mutating func missed() {
        (works, looks.quiet) = (false, 0)
    }

    /// Takes note that bluetoothd is given more.
    mutating func given() {
        looks.quiet = 0
    }

    /// Takes note that an update was seen to leave.
    ///
    /// Nobody knows which it was: it is taken for the oldest that may be under way.
    mutating func completed() {
        if unproven > 0 { unproven -= 1 } else { completions += 1 }
        (works, hasSeenAny) = (true, true)
        looks.quiet = 0
    }

    /// Takes note of a look.
    ///
    /// - Parameters:
    ///   - isBusy: Whether there is anything on the link; `nil` when it may wait for others.
    ///   - hasCompleted: Whether the link has carried something since the last look.
    ///   - missing: How many have not left.
    /// - Returns: What is to be concluded.
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
        // A slow link seems to be empty between two packets, some of which went unseen.
        if works, unproven == 0, looks.quiet >= max(Self.quietLooks, longestPause + 2) { return .resolved }
        if looks.completing >= Self.completingLooks { return judgeWorkingLink(missing) }
        guard looks.silent >= patience, missing > 0 else { return .wait }
        let isLongest = patience == Self.longestPatience
        (looks.silent, patience) = (0, min(patience * 2, Self.longestPatience))
        let released = min(missing, Self.mostUnproven - unproven)
        guard released > 0 else { return isLongest ? .releaseOfDeserted : .wait }
        return release(released)
    }

    /// The link works, but never runs empty.
    private mutating func judgeWorkingLink(_ missing: Int) -> Verdict {
        // What was taken for under way would have come first.
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
