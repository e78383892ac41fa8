import PeripheralCore
import Testing

@testable import PeripheralKit

/// When centrals may pair, and how attempts end.
struct PairingStateMachineTests {
    private static let phone = Central(address: .numbered(1))
    private static let tablet = Central(address: .numbered(2))

    private static func bonded(_ central: Central, as address: DeviceAddress? = nil) -> Central {
        Central(address: address ?? central.address, isBonded: true, id: central.id)
    }

    private static let windowed = PairingPolicy(needsWindow: true, disconnectsUnbonded: true)

    // MARK: The window

    @Test func withoutAWindowCentralsAlwaysPair() {
        var machine = PairingStateMachine(PairingPolicy())
        #expect(machine.isAllowed)
        #expect(machine.deadline == nil)
        #expect(machine.connected(Self.phone) == [])
        #expect(machine.disallow() == [])
        #expect(machine.isAllowed)
    }

    @Test func aWindowOpensOnceAndItsEndMoves() {
        var machine = PairingStateMachine(PairingPolicy(needsWindow: true))
        #expect(!machine.isAllowed)
        #expect(machine.allow(until: .seconds(60)) == [.allowanceChanged, .report(.pairingWindowOpened)])
        #expect(machine.allow(until: .seconds(30)) == [])
        #expect(machine.deadline == .seconds(30))
        #expect(machine.passed(.seconds(29)) == [])
        #expect(machine.isAllowed)
        #expect(machine.passed(.seconds(30)) == [.allowanceChanged, .report(.pairingWindowClosed)])
        #expect(!machine.isAllowed)
        #expect(machine.deadline == nil)
        #expect(machine.disallow() == [])
    }

    @Test func onlyUnbondedCentralsHaveToGo() {
        var machine = PairingStateMachine(Self.windowed)
        #expect(machine.connected(Self.phone) == [.disconnect(Self.phone)])
        #expect(machine.disconnected(Self.phone.id) == [])
        #expect(machine.connected(Self.bonded(Self.tablet)) == [])
        _ = machine.allow(until: .seconds(1))
        #expect(machine.connected(Self.phone) == [])
        #expect(
            machine.disallow() == [
                .allowanceChanged, .report(.pairingWindowClosed), .disconnect(Self.phone),
            ]
        )
    }

    @Test func anAttemptOutlastsTheWindow() {
        var machine = PairingStateMachine(Self.windowed)
        _ = machine.allow(until: .seconds(1))
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        #expect(machine.passed(.seconds(1)) == [.allowanceChanged, .report(.pairingWindowClosed)])
        #expect(!machine.isAllowed)
        #expect(machine.answered(Self.phone, nil, at: .seconds(2)) == [])
        #expect(machine.deadline == .seconds(32))
        #expect(
            machine.passed(.seconds(32)) == [
                .report(.pairingFailed(Self.phone, .notBonded)), .disconnect(Self.phone),
            ]
        )
    }

    @Test func aRefusedQuestionEndsTheEarlierAttempt() {
        var machine = PairingStateMachine(Self.windowed)
        _ = machine.allow(until: .seconds(1))
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        _ = machine.disallow()
        #expect(
            machine.refused(Self.phone, .notAllowed) == [
                .report(.pairingFailed(Self.phone, .notAllowed)), .disconnect(Self.phone),
            ]
        )
        #expect(machine.answered(Self.phone, nil, at: .seconds(2)) == [])
        #expect(machine.deadline == nil)
    }

    @Test func aPublicationDisconnectsStrangersAgain() {
        var machine = PairingStateMachine(Self.windowed)
        _ = machine.connected(Self.phone)
        _ = machine.connected(Self.bonded(Self.tablet))
        #expect(machine.published() == [.disconnect(Self.phone)])
        _ = machine.allow(until: .seconds(1))
        #expect(machine.published() == [])
    }

    // MARK: Attempts

    @Test func aBondEndsAnAttempt() {
        var machine = PairingStateMachine(PairingPolicy())
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        _ = machine.answered(Self.phone, nil, at: .zero)
        let bonded = Self.bonded(Self.phone)
        #expect(machine.connected(bonded) == [.report(.paired(bonded)), .bondsChanged([bonded.address])])
        #expect(machine.deadline == nil)
        #expect(machine.disconnected(Self.phone.id) == [])
    }

    @Test(arguments: [PairingFailure.refused, .unanswered, .cancelled, .undeclaredMethod, .tooManyBonds])
    func aRefusalIsReportedOnce(_ failure: PairingFailure) {
        var machine = PairingStateMachine(PairingPolicy())
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        #expect(
            machine.answered(Self.phone, failure, at: .zero) == [.report(.pairingFailed(Self.phone, failure))]
        )
        #expect(machine.disconnected(Self.phone.id) == [])
    }

    @Test func aDisconnectionEndsAnAttempt() {
        var machine = PairingStateMachine(PairingPolicy())
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        #expect(machine.disconnected(Self.phone.id) == [.report(.pairingFailed(Self.phone, .disconnected))])
        #expect(machine.answered(Self.phone, .cancelled, at: .zero) == [])
    }

    @Test func whetherABondedCentralPairsAgainIsUnknown() {
        var machine = PairingStateMachine(PairingPolicy())
        let bonded = Self.bonded(Self.phone)
        _ = machine.connected(bonded)
        machine.asked(about: bonded)
        _ = machine.answered(bonded, nil, at: .zero)
        #expect(machine.passed(.seconds(30)) == [])
        machine.asked(about: bonded)
        #expect(machine.answered(bonded, .refused, at: .zero) == [.report(.pairingFailed(bonded, .refused))])
    }

    @Test func aLaterQuestionKeepsTheAttempt() {
        var machine = PairingStateMachine(PairingPolicy())
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        _ = machine.answered(Self.phone, nil, at: .zero)
        machine.asked(about: Self.phone)
        #expect(machine.deadline == nil)
        _ = machine.answered(Self.phone, nil, at: .seconds(20))
        #expect(machine.deadline == .seconds(50))
    }

    @Test func allAttemptsEndOffTheAir() {
        var machine = PairingStateMachine(PairingPolicy())
        for central in [Self.tablet, Self.phone] {
            _ = machine.connected(central)
            machine.asked(about: central)
        }
        #expect(
            machine.suspended() == [
                .report(.pairingFailed(Self.phone, .disconnected)),
                .report(.pairingFailed(Self.tablet, .disconnected)),
            ]
        )
    }

    // MARK: Bonds

    @Test func theMaximumIncludesCentralsThatArePairing() {
        var machine = PairingStateMachine(PairingPolicy(maximumBonds: 2))
        let other = DeviceAddress.numbered(9)
        #expect(machine.hasRoom(for: Self.tablet, besides: [other]))
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        #expect(!machine.hasRoom(for: Self.tablet, besides: [other]))
        #expect(machine.hasRoom(for: Self.phone, besides: [other]))
        _ = machine.answered(Self.phone, nil, at: .zero)
        #expect(!machine.hasRoom(for: Self.tablet, besides: [other]))
        #expect(machine.hasRoom(for: Self.tablet, besides: []))
        _ = machine.passed(.seconds(30))
        #expect(machine.hasRoom(for: Self.tablet, besides: [other]))
    }

    @Test func onlyOwnBondsAreReplaced() {
        let (first, second, foreign) = (
            DeviceAddress.numbered(10), DeviceAddress.numbered(11), DeviceAddress.numbered(12)
        )
        let policy = PairingPolicy(maximumBonds: 2, replacesOldest: true)
        var machine = PairingStateMachine(policy, bonds: [first, second])
        #expect(machine.hasRoom(for: Self.phone, besides: [first, foreign]))
        #expect(machine.excess(of: [first, second, foreign]) == [first])
        #expect(machine.excess(of: [second, foreign]) == [])
        #expect(machine.bondRemoved(first) == [.bondsChanged([second])])
        #expect(machine.bondRemoved(foreign) == [])
        #expect(!PairingStateMachine(policy).hasRoom(for: Self.phone, besides: [first, foreign]))
        // The newest bond is never the excess.
        #expect(machine.excess(of: [second, foreign, first]) == [])
    }

    @Test func aBondWithAnotherProgramIsNotOwn() {
        var machine = PairingStateMachine(PairingPolicy(maximumBonds: 1, replacesOldest: true))
        _ = machine.connected(Self.phone)
        let bonded = Self.bonded(Self.phone)
        #expect(machine.connected(bonded) == [.report(.paired(bonded))])
        #expect(machine.bonds == [])
        #expect(!machine.hasRoom(for: Self.tablet, besides: [bonded.address]))
    }

    @Test func aNewBondIsTheNewestUnderItsIdentityAddress() {
        let (identity, older) = (DeviceAddress.numbered(20), DeviceAddress.numbered(11))
        let policy = PairingPolicy(maximumBonds: 1, replacesOldest: true)
        var machine = PairingStateMachine(policy, bonds: [Self.phone.address, older])
        _ = machine.connected(Self.phone)
        machine.asked(about: Self.phone)
        // The identity address can follow the bond.
        _ = machine.connected(Self.bonded(Self.phone))
        #expect(machine.bonds == [older, Self.phone.address])
        #expect(
            machine.connected(Self.bonded(Self.phone, as: identity)) == [
                .bondsChanged([older, identity])
            ]
        )
    }
}
