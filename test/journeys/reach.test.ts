import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { apps } from '../../web/serve/apps.ts'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { leaving, unseenByKeys } from './reach.ts'
import { isAsked, openWeb, pagesOf } from './visit.ts'

/** Whether the walk over all pages is wanted, which takes minutes an app. */
const isWalked = isAsked && process.env.REACH === '1'

/** How often a page may ask the graph while it opens, the frame included. */
const maxQueries = 4

/** How somebody reads: at which widths, and what else is looked at. */
interface Reading {
  readonly name: string
  readonly options: BrowserContextOptions
  readonly widths: readonly number[]
  readonly isByKeys?: boolean
  readonly hasForcedColors?: boolean
}
const readings: readonly Reading[] = [
  { name: 'right to left', options: { locale: 'ar-XB' }, widths: [1280, 390], isByKeys: true },
  { name: 'at 200 %', options: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }, widths: [640], isByKeys: true },
  { name: 'with long words', options: { locale: 'en-XA' }, widths: [1280, 640, 320] },
  { name: 'in forced colours', options: { forcedColors: 'active' }, widths: [1280], isByKeys: true, hasForcedColors: true },
]

const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
const create = (noun: string) => `mutation($input: Create${noun}Input!) { create${noun}(input: $input) { id } }`

/** Gives each app records whose names are one word that no line holds. */
async function writeLongWords(url: string): Promise<void> {
  const owner = await signIn(url, 'owner@demo.test')
  const make = async (noun: string, input: object) => (await owner.query<Record<string, { id: string }>>(create(noun), { input }))[`create${noun}`]!.id
  const brandId = await make('Brand', { name: word })
  await make('Post', { brandId, platform: 'X', copy: word, title: word })
  await make('Order', { currency: 'EUR', description: word, lines: [{ name: word, quantity: 1, unitAmountMinor: '100' }] })
  await make('Customer', { name: word, email: `${word.slice(0, 60)}@example.test`.toLowerCase().replaceAll('ä', 'a') })
  await make('Workflow', {
    ...{ name: word, description: word, trigger: { kind: 'WEBHOOK' } },
    steps: [{ key: 'report', kind: 'REPORT', title: word, text: word }],
  })
  await make('PersonProfile', { displayName: word, personaRules: [word] })
}

describe.runIf(isWalked && browserPath)('every page', () => {
  it.each(apps)('of $app asks the graph at most four times while it opens', async ({ app, ...rest }) => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const { page, enter } = await web.visit()
    const asked: string[] = []
    page.on('request', request => {
      if (request.method() === 'POST' && new URL(request.url()).pathname === '/graphql') asked.push(String(request.postDataJSON()?.operationName))
    })
    const addresses = pagesOf(rest).map(({ paths }) => `${web[app]}${paths[0]}`)
    await enter(addresses[0]!)
    const found: string[] = []
    for (const address of addresses) {
      await page.waitForLoadState('networkidle')
      asked.length = 0
      await enter(address)
      await page.waitForLoadState('networkidle')
      if (asked.length === 0 || asked.length > maxQueries) found.push(`${address}: ${asked.join(' ')}`)
    }
    expect(found).toEqual([])
  }, 300_000)

  it.each(apps)('of $app is within reach right to left, at 200 %, with long words and in forced colours, for the eye, the pointer and by keys', async ({
    app,
    ...rest
  }) => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    await writeLongWords(web.url)
    const found = new Set<string>()
    for (const { name, options, widths, isByKeys, hasForcedColors } of readings) {
      const { page, enter, findings } = await web.visit({ reducedMotion: 'reduce', ...options })
      const height = page.viewportSize()!.height
      for (const { paths } of pagesOf(rest)) {
        /** Adds what is found on the page as it stands. */
        const look = async (path: string, also = '') => {
          for (const width of widths) {
            await page.setViewportSize({ width, height })
            for (const each of await leaving(page)) found.add(`${path} ${name}${also} ${width}: ${each}`)
          }
          if (hasForcedColors)
            for (const colorScheme of ['light', 'dark'] as const) {
              await page.emulateMedia({ colorScheme, forcedColors: 'active', reducedMotion: 'reduce' })
              for (const each of await findings()) found.add(`${path} ${name}${also} ${colorScheme}: ${each}`)
            }
        }
        const addresses = [paths[0]!]
        for (let at = 0; at < addresses.length; at += 1) {
          const path = addresses[at]!
          await page.setViewportSize({ width: widths[0]!, height })
          await enter(`${web[app]}${path}`)
          await page.waitForLoadState('networkidle')
          await look(path)
          if (isByKeys) for (const each of await unseenByKeys(page)) found.add(`${path} ${name}: ${each}`)
          if (at > 0) continue
          // A record of each list too: the first that it leads to.
          const links = await page.evaluate<string[]>("[...document.querySelectorAll('main a[href]')].map(({ pathname }) => pathname)")
          for (const pattern of paths.slice(1)) {
            const record = links.find(link => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(link))
            if (record) addresses.push(record)
          }
          const opener = page.locator('.title button.primary').first()
          if ((await opener.count()) === 0) continue
          await opener.click()
          const dialog = page.getByRole('dialog').first()
          if ((await dialog.count()) > 0) await look(path, ' in its dialog')
        }
      }
      await page.context().close()
    }
    expect([...found]).toEqual([])
  }, 1_200_000)
})
