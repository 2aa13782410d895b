import { tokensCss } from '../design/css.ts'
import { readBuilt } from './built.ts'

/** The tokens, and the font where a build has it, for pages of the platform's own: they look like the workspaces and need no build to stand. */
export function houseTokens(): string {
  const font = readBuilt()?.files.find(name => /^inter-latin-wght-normal-.*\.woff2$/.test(name))
  const face = font ? `@font-face{font-family:"Inter";font-weight:100 900;font-display:swap;src:url("/assets/${font}") format("woff2")}\n` : ''
  return `${face}${tokensCss()}`
}
