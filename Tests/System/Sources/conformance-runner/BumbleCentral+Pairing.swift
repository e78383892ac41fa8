import PeripheralTesting

extension BumbleCentral {
    func pair(_ user: PairingUser) async throws {
        guard !user.entersDisplayedPasskey else {
            throw TestCentralError(
                code: .failed,
                message: "A central on a radio cannot read the display of the peripheral. "
                    + "Pair with PairingUser.entering(_:)."
            )
        }
        pool.notePairing()
        var command = "pair \(user.capability.word)"
        if user.isBonding { command += " bonding" }
        if user.requiresAuthentication { command += " mitm" }
        if user.secureConnections { command += " sc" }
        // The one that its controller has.
        if user.identityAddress != nil { command += " public" }
        var question = try await ask(command)
        while !question.isEmpty {
            question = try await answer(question, by: user)
        }
    }

    func changeAddress() async throws {
        // To have it forget its keys after the scenario, and come back to its first address. When it bonds,
        // bluetoothd takes a device of the last 30 seconds that has its lasting address for this one.
        if pool.notePairing() { await Rig.order(["forget"]) }
        do {
            _ = try await pool.process(place: place).ask("rotate")
        } catch let error as TestCentralError where error.code == .failed {
            throw TestCentralError(code: .alreadyConnected, message: error.message)
        }
    }

    func encrypt() async throws {
        do {
            _ = try await ask("encrypt")
        } catch let error as TestCentralError where error.code == .failed {
            throw TestCentralError(code: .pairingFailed, message: error.message)
        }
    }

    func forgetBond() async throws {
        _ = try await pool.process(place: place).ask("forget")
    }

    func recallBond() async throws {
        _ = try await pool.process(place: place).ask("recall")
    }

    /// Has the person answer a question, for as long as the pairing goes on.
    ///
    /// - Returns: The next question; none when the two are paired.
    private func answer(_ question: [Substring], by user: PairingUser) async throws -> [Substring] {
        try await withThrowingTaskGroup(of: [Substring]?.self) { group in
            group.addTask { try await self.ask("pairing") }
            group.addTask {
                let word = try await self.word(for: question, by: user)
                if !Task.isCancelled { _ = try await self.ask("answer \(word)") }
                return nil
            }
            defer { group.cancelAll() }
            while let next = try await group.next() {
                if let next { return next }
            }
            throw CancellationError()
        }
    }

    private func word(for question: [Substring], by user: PairingUser) async throws -> String {
        let number = question.last.flatMap { UInt32($0) }
        switch (question.first, number) {
        case ("display", let passkey?):
            await user.display(passkey)
            return "seen"
        case ("compare", let number?):
            return await user.confirm(number) ? "yes" : "no"
        case ("passkey", nil):
            return await user.enterPasskey().map { "\($0)" } ?? "none"
        default:
            throw TestCentralError(code: .failed, message: "The central's process asks something unknown.")
        }
    }
}

extension PairingUser.Capability {
    /// The capability's name in the line protocol.
    fileprivate var word: String {
        switch self {
        case .noInputNoOutput: "none"
        case .displayOnly: "display"
        case .displayYesNo: "yesno"
        case .keyboardOnly: "keyboard"
        case .keyboardDisplay: "keyboard-display"
        }
    }
}
