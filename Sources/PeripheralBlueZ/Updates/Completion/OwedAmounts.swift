internal import PeripheralKit

/// The amounts that count as completed, but have not been sent, for each central.
///
/// The next sent packets count for these amounts first.
struct OwedAmounts {
    private(set) var amounts: [(central: Central.ID, amount: CompletionEstimate.Amount)] = []

    var isNothing: Bool { amounts.isEmpty }

    /// Returns the number of packets owed to a central.
    func packets(for central: Central.ID) -> Int {
        amounts.first { $0.central == central }?.amount.packets ?? 0
    }

    mutating func add(_ entry: CompletionEstimate.Entry) {
        let central = entry.delivery.central
        if let index = amounts.firstIndex(where: { $0.central == central }) {
            amounts[index].amount.add(entry.size)
        } else {
            amounts.append((central, CompletionEstimate.Amount(packets: 1, bytes: entry.size)))
        }
    }

    mutating func forget(_ central: Central.ID) {
        amounts.removeAll { $0.central == central }
    }

    /// Subtracts what was sent from the amounts, and the amounts from what was sent.
    mutating func pay(with sent: inout CompletionEstimate.Amount) {
        for index in amounts.indices { amounts[index].amount.pay(with: &sent) }
        amounts.removeAll { $0.amount.isNothing }
    }
}
