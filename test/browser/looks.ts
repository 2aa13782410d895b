import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { until } from '../kit/launch.ts'

/** What a page of the hosted flow has to hold at. */
export const looks = [
  { width: 360, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const

/** That nothing lies beside the page, every field has its label, what is hidden is not seen, and text stands out from what is behind it. */
export async function looksRight(page: Page): Promise<void> {
  const seen = (await page.evaluate(`({
    wide: document.documentElement.scrollWidth > innerWidth,
    unnamed: [...document.querySelectorAll('input:not([type=hidden])')].filter(field => !field.labels.length).length,
    shown: [...document.querySelectorAll('[hidden]')].filter(part => getComputedStyle(part).display !== 'none').length,
    colors: [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor],
  })`)) as { wide: boolean; unnamed: number; shown: number; colors: [string, string] }
  expect([seen.wide, seen.unnamed, seen.shown]).toEqual([false, 0, 0])
  expect(seen.colors[0]).not.toBe(seen.colors[1])
}

/** Goes from field to field with Tab, in the order in which they stand, and sends the form with Enter; without fields it presses the button. */
export async function fillIn(page: Page, ...texts: string[]): Promise<void> {
  await looksRight(page)
  for (const text of texts) {
    await page.keyboard.press('Tab')
    await page.keyboard.type(text)
  }
  if (texts.length === 0) await page.keyboard.press('Tab')
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
}

/** The link of the mail of a kind that an address has, once it is there. @param mailbox where received mails are read */
export const linkOf = (mailbox: string, email: string, kind: string): Promise<string> =>
  until(`${email} has a mail ${kind}`, async () => {
    const mails = (await (await fetch(`${mailbox}&to=${encodeURIComponent(email)}`)).json()) as { text: string; headers: Record<string, string> }[]
    return /http:\S+\?code=[\w-]{43}/.exec(mails.find(({ headers }) => headers['x-supergraph-mail'] === kind)?.text ?? '')?.[0]
  })
