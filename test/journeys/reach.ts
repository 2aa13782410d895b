import type { Page } from 'playwright-core'

/** What both scripts say of an element: its classes below those of its parent, and what it is called. */
const naming = `
  const classesOf = el => el.tagName.toLowerCase() + [...el.classList].slice(0, 3).map(name => '.' + name).join('')
  const nameOf = el => classesOf(el.parentElement) + ' > ' + classesOf(el) + ' "' + (el.getAttribute('aria-label') || el.textContent || el.name || '').trim().slice(0, 40) + '"'`

/** Finds whatever leaves the page at its sides: the page itself, controls, texts, and labels wider than their control. */
const outside = `(() => {
  ${naming}
  const found = new Set()
  const width = document.documentElement.clientWidth
  const main = document.querySelector('main')
  for (const box of [document.documentElement, main, ...document.querySelectorAll('.panel, .dialog')]) {
    const over = box ? box.scrollWidth - box.clientWidth : 0
    if (over > 0) found.add(classesOf(box) + ' scrolls ' + over + ' px sideways')
  }
  const isSeen = el => el.checkVisibility({ visibilityProperty: true }) && !el.closest('.unseen, .skip, [aria-hidden=true]')
  const isBeside = ({ left, right }, box) => left < box.left - 1 || right > box.right + 1
  /** What cuts an element off; nothing where it is within something that scrolls by itself, or is for screen readers alone. */
  const cutBy = (el, box) => {
    for (let around = el.parentElement; around && around !== main; around = around.parentElement) {
      const { clipPath, overflowX, textOverflow } = getComputedStyle(around)
      if (clipPath !== 'none' || /auto|scroll/.test(overflowX)) return null
      if (/hidden|clip/.test(overflowX)) return isBeside(box, around.getBoundingClientRect()) && textOverflow !== 'ellipsis' ? classesOf(around) : null
    }
    return isBeside(box, { left: 0, right: width }) ? 'the page' : null
  }
  const controls = 'a[href], button, input, select, textarea, summary'
  for (const el of document.querySelectorAll(controls + ', main :is(h1, h2, h3, p, dd, dt, label, legend, td, th, li)')) {
    const box = el.getBoundingClientRect()
    const { clipPath, overflowX, textOverflow } = getComputedStyle(el)
    if (!isSeen(el) || clipPath !== 'none' || box.width <= 1 || box.height <= 1) continue
    const cut = cutBy(el, box)
    if (cut) found.add(nameOf(el) + ' is cut off by ' + cut)
    const isWider = el.matches('a, button, summary') && el.clientWidth > 0 && el.scrollWidth > el.clientWidth + 1
    if (isWider && textOverflow !== 'ellipsis' && overflowX !== 'auto') found.add(nameOf(el) + ' is narrower than its label')
  }
  return [...found]
})()`

/** Says of the focused element whether a reader sees that it is; null where nothing is focused. */
const focused = `(() => {
  ${naming}
  const el = document.activeElement
  if (!el || el === document.body) return null
  const { left, top, right, bottom, width, height } = el.getBoundingClientRect()
  const isOutlined = each => { const { outlineStyle, outlineWidth } = getComputedStyle(each); return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 }
  const around = [el, el.parentElement, el.parentElement?.parentElement, el.parentElement?.parentElement?.parentElement].filter(Boolean)
  const wrong = []
  if (!around.some(isOutlined)) wrong.push('has no outline')
  if (right < 1 || bottom < 1 || left > innerWidth - 1 || top > innerHeight - 1) wrong.push('is outside the window')
  else if (width > 1 && height > 1) {
    const [x, y] = [(Math.max(left, 0) + Math.min(right, innerWidth)) / 2, (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2]
    const places = [[x, y], [Math.max(left, 0) + 3, Math.max(top, 0) + 3], [Math.min(right, innerWidth) - 3, Math.min(bottom, innerHeight) - 3]]
    const isHere = at => at && (el.contains(at) || at.contains(el) || el.closest('label')?.contains(at))
    if (!places.some(([left, top]) => isHere(document.elementFromPoint(left, top)))) wrong.push('is covered')
  }
  return { place: nameOf(el) + Math.round(left) + ' ' + Math.round(top + scrollY), wrong: wrong.map(each => nameOf(el) + ' ' + each) }
})()`

/** What leaves the page at its sides, a sentence each. */
export const leaving = (page: Page): Promise<string[]> => page.evaluate(outside)

/** Goes through a page by the Tab key. @returns what one cannot see to be focused, a sentence each */
export async function unseenByKeys(page: Page, most = 80): Promise<string[]> {
  const found: string[] = []
  let first: string | null = null
  for (let step = 0; step < most; step += 1) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate<{ place: string; wrong: string[] } | null>(focused)
    if (!at || at.place === first) break
    first ??= at.place
    found.push(...at.wrong)
  }
  return found
}
