import PeripheralDoctor
import Testing

/// Findings on paper.
@Suite(.timeLimit(.minutes(1)))
struct ReportTests {
    private static let findings = [
        Finding(.ok, "bus", "bus-reachable", "The bus answers."),
        Finding(
            .error,
            "hci0",
            "adapter-off",
            "hci0 ('La\u{1B}mp') is powered off.",
            reason: "Nothing is on the air.",
            remedy:
                "Power it on, or have the program do it, which takes a line that is too long for one line here.",
            command: "bluetoothctl power on"
        ),
        Finding(.note, "hci0", "adapter-not-pairable", "hci0 takes no new bonds.", reason: "So it is."),
    ]

    @Test func textIsAligned() {
        #expect(
            Report(Self.findings).text == """
                bus
                  ok       The bus answers.

                hci0
                  error    hci0 ('La\u{FFFD}mp') is powered off.
                           Nothing is on the air.
                           Power it on, or have the program do it, which takes a line that is too long for one line
                           here.
                           $ bluetoothctl power on
                  note     hci0 takes no new bonds.
                           So it is.

                1 error, 0 warnings, 1 note
                """
        )
    }

    @Test func jsonIsStable() {
        #expect(
            Report(Array(Self.findings.dropFirst(2))).json == """
                {
                  "format": 1,
                  "errors": 0,
                  "warnings": 0,
                  "notes": 1,
                  "findings": [
                    {"subject": "hci0", "code": "adapter-not-pairable", "severity": "note", \
                "summary": "hci0 takes no new bonds.", "reason": "So it is.", "remedy": null, "command": null}
                  ],
                  "configuration": null
                }
                """
        )
    }

    @Test(
        arguments: [
            ("Lamp", #""Lamp""#), (#"a"b\c"#, #""a\"b\\c""#), ("a\nb", #""a\nb""#),
            ("\u{1B}\u{7F}", #""\u001b\u007f""#),
            ("é🙂", #""é🙂""#), ("", #""""#),
        ]
    )
    func textIsQuoted(text: String, quoted: String) {
        #expect(Report.quote(text) == quoted)
    }

    @Test func errorsAreCounted() {
        #expect(Report(Self.findings).hasErrors)
        #expect(!Report([Self.findings[0], Self.findings[2]]).hasErrors)
        #expect(Report([]).text == "\n0 errors, 0 warnings, 0 notes")
    }
}
