/** How pages look: as the system does, or always one way. */
export type Theme = 'system' | 'light' | 'dark'

const key = 'supergraph.theme'

/** What was chosen in this browser. */
export function readTheme(): Theme {
  const kept = localStorage.getItem(key)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Chooses, and keeps it in this browser. */
export function setTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(key)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(key, theme)
    document.documentElement.dataset.theme = theme
  }
}
