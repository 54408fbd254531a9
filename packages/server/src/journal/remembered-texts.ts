const REMEMBERED_BYTES_MAX = 64_000_000

/** The texts of the latest rows that this process has committed, so that they need not be read back. */
export function rememberTexts() {
  const texts = new Map<string, string>()
  let bytes = 0
  function forget(journalId: string): void {
    bytes -= texts.get(journalId)?.length ?? 0
    texts.delete(journalId)
  }
  return {
    get: (journalId: string) => texts.get(journalId),
    bytes: () => bytes,
    forget,
    add: (journalId: string, text: string) => {
      texts.set(journalId, text)
      bytes += text.length
      for (const oldest of texts.keys()) {
        if (bytes <= REMEMBERED_BYTES_MAX) return
        forget(oldest)
      }
    },
  }
}
