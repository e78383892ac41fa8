import PeripheralKit
import Testing

@testable import PeripheralStorage

@Suite(.timeLimit(.minutes(1)))
struct StateLocationTests {
    @Test(arguments: [
        (
            ["STATE_DIRECTORY": "/var/lib/lamp", "XDG_STATE_HOME": "/x", "HOME": "/home/me"], "/var/lib/lamp",
            1
        ),
        (["STATE_DIRECTORY": "/var/lib/lamp:/var/lib/other"], "/var/lib/lamp", 1),
        (["STATE_DIRECTORY": "", "XDG_STATE_HOME": "/x", "HOME": "/home/me"], "/x/lamp", 2),
        (["XDG_STATE_HOME": "relative", "HOME": "/home/me"], "/home/me/.local/state/lamp", 3),
        (["XDG_STATE_HOME": "", "HOME": "/root"], "/root/.local/state/lamp", 3),
    ])
    func placeIsFound(environment: [String: String], path: String, madeComponentCount: Int) throws {
        let location = try StateLocation(environment: { environment[$0] }, programName: "lamp")
        #expect(location.path == path)
        #expect(location.madeComponentCount == madeComponentCount)
    }

    @Test(
        arguments: [[:], ["STATE_DIRECTORY": ":", "XDG_STATE_HOME": "x", "HOME": ""]] as [[String: String]]
    )
    func withoutAPlaceTheErrorSaysWhatToDo(environment: [String: String]) throws {
        let error = #expect(throws: RestorationError.self) {
            try StateLocation(environment: { environment[$0] }, programName: "lamp")
        }
        #expect(error?.code == .unwritable)
        #expect(error?.message.hasSuffix("StateDirectory(path:).") == true)
    }

    @Test(arguments: [("/usr/bin/lamp", "lamp"), ("lamp", "lamp"), ("", nil), ("/..", nil), ("./", nil)])
    func programIsNamedByItsPath(path: String, name: String?) {
        #expect(StateLocation.programName(ofPath: path) == name)
    }
}
