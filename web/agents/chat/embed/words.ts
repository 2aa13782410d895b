/** What the chat itself says on a page of somebody else. */
export interface ChatWords {
  readonly open: string
  readonly close: string
  readonly message: string
  readonly send: string
  readonly you: string
  readonly writing: string
  readonly slow: string
  readonly full: string
  readonly away: string
  readonly browser: string
  readonly helpful: string
  readonly unhelpful: string
  readonly thanks: string
}

const words: Readonly<Record<'en' | 'de', ChatWords>> = {
  en: {
    open: 'Ask a question',
    close: 'Close the chat',
    message: 'Your question',
    send: 'Send question',
    you: 'You',
    writing: 'Writing',
    slow: 'That was a lot at once. Try again in {seconds} seconds.',
    full: 'This question cannot be sent: shorten it.',
    away: 'The chat does not answer at the moment. Your question is kept: try again.',
    browser: 'The chat needs a page that is opened by https.',
    helpful: 'Helpful',
    unhelpful: 'Not helpful',
    thanks: 'Your verdict was kept.',
  },
  de: {
    open: 'Frage stellen',
    close: 'Chat schließen',
    message: 'Deine Frage',
    send: 'Frage senden',
    you: 'Du',
    writing: 'Schreibt',
    slow: 'Das war viel auf einmal. Versuche es in {seconds} Sekunden noch einmal.',
    full: 'Diese Frage lässt sich nicht senden: kürze sie.',
    away: 'Der Chat antwortet gerade nicht. Deine Frage bleibt stehen: versuche es noch einmal.',
    browser: 'Der Chat braucht eine Seite, die mit https geöffnet ist.',
    helpful: 'Hilfreich',
    unhelpful: 'Nicht hilfreich',
    thanks: 'Dein Urteil ist gespeichert.',
  },
}

/** The words of the page's own language, English where it is another. */
export const wordsOf = (language: string): ChatWords => (/^de\b/i.test(language) ? words.de : words.en)
