type Names = readonly (readonly [pattern: RegExp, name: string])[]

/** In the order of asking: most browsers call themselves by the names of others too. */
const browsers: Names = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: Names = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** The browser and the system that a user agent names, as people call them; null where it is no such browser. */
export function deviceOf(userAgent: string): { readonly browser: string; readonly system: string } | null {
  const nameIn = (names: Names) => names.find(([pattern]) => pattern.test(userAgent))?.[1]
  const [browser, system] = [nameIn(browsers), nameIn(systems)]
  return browser && system ? { browser, system } : null
}
