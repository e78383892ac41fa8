import PeripheralDBus
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

struct AdapterAliasTests {
    @Test(
        arguments: [
            ("host", "host", nil, .possible), ("Lamp", "host", nil, .unnecessary),
            ("Kitchen", "host", nil, .impossible), ("Lamp 1", "host", "Lamp 1", .possible),
            ("Kitchen", "host", "Lamp 1", .impossible), ("Lamp", "Lamp", nil, .unnecessary),
        ] as [(String, String, String?, AdapterAlias.Claim)]
    )
    func onlyAFreeAliasIsClaimed(alias: String, name: String, own: String?, expected: AdapterAlias.Claim) {
        #expect(AdapterAlias(alias: alias, name: name, own: own).claim(of: "Lamp") == expected)
    }

    @Test func onlyTheOwnAliasIsRemoved() {
        #expect(AdapterAlias(alias: "Lamp", name: "host", own: "Lamp").isOwn)
        #expect(!AdapterAlias(alias: "Lamp", name: "host", own: nil).isOwn)
        #expect(!AdapterAlias(alias: "Kitchen", name: "host", own: "Lamp").isOwn)
    }

    @Test func theFirstConnectableAdvertisementNamesTheAdapter() {
        let named = Advertisement(localName: "Lamp")
        #expect(AdapterAlias.wanted(by: [Advertisement(.broadcast, localName: "Beacon"), named]) == "Lamp")
        #expect(AdapterAlias.wanted(by: [Advertisement(localName: ""), named]) == nil)
        #expect(AdapterAlias.wanted(by: []) == nil)
        let long = String(repeating: "é", count: 124)
        #expect(AdapterAlias.wanted(by: [Advertisement(localName: long)])?.utf8.count == 246)
    }

    @Test func anAdapterWithoutTheseNamesHasNoAlias() {
        #expect(AdapterAlias(.properties([]), own: nil) == nil)
        #expect(AdapterAlias(.properties([("Alias", .string("A"))]), own: nil) == nil)
    }
}
