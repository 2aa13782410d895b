import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { apps } from '../../../web/serve/apps.ts'
import { type Built, dist } from '../../../web/serve/built.ts'

/** Maximum compressed JavaScript of a page before it is ready, in kB (1,000 bytes). */
const ownBudgets: Readonly<Record<string, number>> = { 'publishing.compose': 310, 'publishing.calendar': 270 }
const appBudgets: Readonly<Record<string, number>> = { launcher: 215, publishing: 230, payments: 250, agents: 250, providers: 250 }
/** Maximum style sheets, and maximum total of pages without an app: sign-in and the marketing site. */
const [styleBudget, bareBudget] = [10, 15]

/** What one page loads before it is ready. */
export interface Weight {
  readonly name: string
  readonly script: number
  readonly budget: number
}

const sizeInDist = (file: string): number => readFileSync(join(dist, 'assets', `${file}.gz`)).length / 1000

/** The packed size of every page of a build, the heaviest first. @param sizeOf the packed size of a file, in kB @default that of the file in `dist` */
export function weightsOf(built: Built, sizeOf = sizeInDist): readonly Weight[] {
  const pages = apps.flatMap(({ app, pages }) =>
    Object.keys(pages).map(name => {
      const { chunks, words } = built.pages[`${app}.${name}`]!
      const script = [...chunks, ...words.en].reduce((sum, file) => sum + sizeOf(file), 0)
      return { name: `${app}.${name}`, script, budget: ownBudgets[`${app}.${name}`] ?? appBudgets[app]! }
    }),
  )
  const bare = [
    { name: 'sign-in', script: sizeOf(built.login), budget: bareBudget },
    { name: 'chat on any page', script: sizeOf(built.embed), budget: bareBudget },
    { name: 'marketing', script: sizeOf(built.site), budget: bareBudget },
    { name: 'style of every page', script: sizeOf(built.style), budget: styleBudget },
  ]
  return [...pages.sort((a, b) => b.script - a.script), ...bare]
}
