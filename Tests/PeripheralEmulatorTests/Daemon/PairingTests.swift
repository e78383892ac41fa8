import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// What bluetoothd asks its agents, as recorded of 5.66 on Linux 6.1.
@Suite(.timeLimit(.minutes(1)))
struct PairingTests {
    /// What is asked of an agent when a central that wants protection pairs by LE Secure Connections.
    static let questions: [(agent: String, central: PairingUser.Capability, question: String?)] = [
        ("NoInputNoOutput", .displayYesNo, "RequestAuthorization(o DEVICE)"),
        ("DisplayOnly", .keyboardOnly, "DisplayPasskey(o DEVICE, u NUMBER, q 0) NO_REPLY_EXPECTED"),
        ("DisplayOnly", .displayYesNo, nil),
        ("KeyboardOnly", .displayOnly, "RequestPasskey(o DEVICE)"),
        ("KeyboardOnly", .keyboardOnly, "RequestPasskey(o DEVICE)"),
        ("DisplayYesNo", .displayYesNo, "RequestConfirmation(o DEVICE, u NUMBER)"),
        ("DisplayYesNo", .noInputNoOutput, nil),
        ("", .keyboardDisplay, "RequestConfirmation(o DEVICE, u NUMBER)"),
        ("KeyboardDisplay", .displayOnly, "RequestPasskey(o DEVICE)"),
    ]

    private static func anonymous(_ call: String, of central: VirtualCentral) -> String {
        let words = call.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let end = word.drop { $0 != "," && $0 != ")" }
            let isNumber =
                word.dropLast(end.count).count > 1 && word.dropLast(end.count).allSatisfy(\.isNumber)
            return word.hasPrefix(central.path.text) ? "DEVICE\(end)" : isNumber ? "NUMBER\(end)" : "\(word)"
        }
        let text = words.joined(separator: " ")
        guard let gap = text.firstIndex(of: " "), let arguments = text.firstIndex(of: "(") else {
            return text
        }
        return String(text[..<gap] + text[arguments...])
    }

    @Test(arguments: questions)
    func questionFollowsFromBoth(agent: String, central: PairingUser.Capability, question: String?)
        async throws
    {
        try await Stage.run(agent: agent) { stage, peer async throws in
            stage.application.answer("RequestPasskey", .values([.uint32(1_000_000)]))
            let user = PairingUser(
                capability: central,
                requiresAuthentication: true,
                enterPasskey: { 1_000_000 }
            )
            // Neither side enters the displayed passkey, because 1,000,000 has too many digits.
            let isAsked = question?.hasSuffix("RequestAuthorization(o DEVICE)") == true
            let isConfirmed = question?.hasPrefix("RequestConfirmation") == true
            let bothEnter = agent == "KeyboardOnly" && central == .keyboardOnly
            let succeeds = isAsked || isConfirmed || bothEnter
            #expect(await peer.outcome(ofPairing: user) == (succeeds ? "ok" : "pairingFailed"))
            try await stage.application.settle()
            let calls = stage.application.calls.take().map { Self.anonymous($0, of: peer) }
            #expect(calls == (question.map { [$0] } ?? []))
        }
    }

    @Test(arguments: DescribedAnswer.refusals)
    func agentRefuses(_ refusal: DescribedAnswer) async throws {
        try await Stage.run(agent: refusal.capability) { stage, central async throws in
            for method in ["RequestAuthorization", "RequestPasskey", "RequestConfirmation"] {
                stage.application.answer(method, refusal.answer)
            }
            #expect(await central.outcome(ofPairing: refusal.user) == "pairingFailed")
            #expect(await outcome { try await central.read(Stage.Handle.encrypted, offset: 0) } == "0x0f")
            #expect(await outcome { try await central.read(Stage.Handle.ro, offset: 0) } == "01")
        }
    }

    struct DescribedAnswer: Sendable, CustomTestStringConvertible {
        var capability: String
        var user: PairingUser
        var answer: RawApplication.BackendAnswer
        var testDescription: String { "\(capability): \(answer)" }

        static let refusals = [
            DescribedAnswer(
                capability: "NoInputNoOutput",
                user: .justWorks,
                answer: .error("org.bluez.Error.Rejected", "")
            ),
            DescribedAnswer(
                capability: "DisplayYesNo",
                user: .confirming(),
                answer: .error("com.example.Whatever", "")
            ),
            DescribedAnswer(
                capability: "KeyboardOnly",
                user: .reading { _ in },
                answer: .error("org.bluez.Error.Canceled", "")
            ),
            DescribedAnswer(
                capability: "KeyboardOnly",
                user: .reading { _ in },
                answer: .values([.string("123456")])
            ),
        ]
    }

    @Test func pairingOpensEncryptedAttributes() async throws {
        try await Stage.run { stage, central async throws in
            let read = { await outcome { try await central.read(Stage.Handle.encrypted, offset: 0) } }
            #expect(await read() == "0x0f")
            #expect(try await stage.application.registerAgent() == "ok")
            #expect(await central.outcome(ofPairing: .justWorks) == "ok")
            #expect(await read() == "01")
        }
    }

    // MARK: Questions that end

    @Test(arguments: ["RequestAuthorization", "RequestPasskey", "RequestConfirmation"])
    func aQuestionIsTakenBackWhenTheCentralGoes(method: String) async throws {
        let users: [String: (String, PairingUser)] = [
            "RequestAuthorization": ("NoInputNoOutput", .justWorks),
            "RequestPasskey": ("KeyboardOnly", .reading { _ in }),
            "RequestConfirmation": ("DisplayYesNo", .confirming()),
        ]
        let (capability, user) = try #require(users[method])
        try await Stage.run(agent: capability) { stage, central async throws in
            stage.application.answer(method, .never)
            async let outcome = central.outcome(ofPairing: user)
            _ = await stage.application.calls.take(1)
            central.disconnect()
            #expect(await outcome == "disconnected")
            #expect(await stage.application.calls.take(1) == ["Cancel /agent() NO_REPLY_EXPECTED"])
        }
    }

    @Test func anUnregisteredAgentLeavesThePairingToItsTimeLimit() async throws {
        let clock = ManualClock()
        try await Stage.run(.init(clock: clock), agent: "NoInputNoOutput") { stage, central async throws in
            stage.application.answer("RequestAuthorization", .never)
            async let outcome = central.outcome(ofPairing: .justWorks)
            _ = await stage.application.calls.take(1)
            #expect(await stage.application.callAgentManager("UnregisterAgent") == "ok")
            stage.application.answerLate([])
            clock.advance(by: .seconds(30))
            #expect(await outcome == "pairingFailed")
            try await stage.application.settle()
            #expect(stage.application.calls.take() == [])
        }
    }

    /// The answer and the withdrawal come so close behind each other that bluetoothd reads them together.
    @Test func anAnswerRightBeforeTheWithdrawalCounts() async throws {
        // The clock does not advance, so a dropped answer would leave the central waiting.
        let clock = ManualClock()
        try await Stage.run(.init(clock: clock), agent: "KeyboardOnly") { stage, central async throws in
            let application = stage.application
            let connection = application.connection
            let refusal = RawApplication.BackendAnswer.made {
                connection.loop.execute {
                    connection.assumeIsolated {
                        try? $0.callIgnoringAnswer(
                            "org.bluez",
                            "/org/bluez",
                            "org.bluez.AgentManager1",
                            "UnregisterAgent",
                            [.objectPath(RawApplication.agent)]
                        )
                    }
                }
                return [.string("no passkey")]
            }
            application.answer("RequestPasskey", refusal)
            for _ in 0..<20 {
                #expect(await central.outcome(ofPairing: .reading { _ in }) == "pairingFailed")
                #expect(
                    await application.callAgentManager("RegisterAgent", .string("KeyboardOnly")) == "ok"
                )
            }
        }
    }

    // MARK: Agents

    @Test func theDefaultAgentIsAsked() async throws {
        try await Stage.run { stage, central async throws in
            let first = stage.application
            #expect(try await first.registerAgent() == "ok")
            try await RawApplication.run(on: stage.bluez) { second async throws in
                #expect(try await second.registerAgent() == "ok")
                first.answer("RequestAuthorization", .error("org.bluez.Error.Rejected", ""))
                second.answer("RequestAuthorization", .error("org.bluez.Error.Rejected", ""))
                #expect(await central.outcome(ofPairing: .justWorks) == "pairingFailed")
                #expect(first.calls.take().count == 1)
                #expect(await second.callAgentManager("RequestDefaultAgent") == "ok")
                #expect(await central.outcome(ofPairing: .justWorks) == "pairingFailed")
                #expect(first.calls.take() == [])
                #expect(second.calls.take().count == 1)
                #expect(await second.callAgentManager("UnregisterAgent") == "ok")
                #expect(await central.outcome(ofPairing: .justWorks) == "pairingFailed")
                #expect(first.calls.take().count == 1)
            }
        }
    }

    @Test func anAgentMakesTheAdapterPairable() async throws {
        try await Stage.run { stage, _ async throws in
            let application = stage.application
            try await application.settle()
            _ = application.signals.take()
            let changes = ["true", "false"].map {
                "PropertiesChanged /org/bluez/hci0(s 'org.bluez.Adapter1', {'Pairable': b \($0)}, [])"
            }
            #expect(try await application.registerAgent() == "ok")
            #expect(await application.signals.take(1) == [changes[0]])
            #expect(await application.callAgentManager("UnregisterAgent") == "ok")
            #expect(await application.signals.take(1) == [changes[1]])
        }
    }

    @Test func agentsAreReleasedInTheEnd() async throws {
        try await Stage.run(agent: "NoInputNoOutput") { stage, _ async throws in
            await stage.bluez.stopDaemon()
            let calls = await stage.application.calls.take(2)
            #expect(calls.contains("Release /agent() NO_REPLY_EXPECTED"))
        }
    }
}
