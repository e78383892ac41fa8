import PeripheralKit
import TestSupport

extension RestorationState {
    /// A small document with a bit of everything.
    static let sample: RestorationState = {
        var adapter = Group("Adapter")
        adapter["Path"] = "/org/bluez/hci0"
        var values = Group("Values")
        values["2A19"] = " 64 \t leading and trailing \n lines \\ \r"
        values["Name"] = "Türschloß 🔒; a=b #c [d]"
        values["Empty"] = ""
        var restorationState = RestorationState()
        restorationState.append(adapter)
        restorationState.append(Group("Subscribers"))
        restorationState.append(values)
        return restorationState
    }()

    /// Any document: any number of groups and keys, any text.
    static func random(using generator: inout SeededGenerator) -> RestorationState {
        var restorationState = RestorationState()
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            var group = Group(name(using: &generator))
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                group[name(using: &generator)] = text(using: &generator)
            }
            restorationState.append(group)
        }
        return restorationState
    }

    private static func name(using generator: inout SeededGenerator) -> String {
        let characters = Array("ABYZabyz0189-")
        return String(
            (0...Int.random(in: 0...5, using: &generator)).map { _ in
                characters[Int.random(in: 0..<characters.count, using: &generator)]
            }
        )
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        let characters = Array(" \t\n\r\\sntr;=#[]\"%é\u{301}\u{1}\u{7F}\u{FEFF}🔒a")
        return String(
            (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                characters[Int.random(in: 0..<characters.count, using: &generator)]
            }
        )
    }
}

/// The code of the error that is thrown, `nil` when none is.
func code(
    of body: () async throws(RestorationError) -> Void
) async -> RestorationError.Code? {
    do throws(RestorationError) {
        try await body()
        return nil
    } catch {
        return error.code
    }
}
