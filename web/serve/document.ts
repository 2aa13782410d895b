import { escaped } from '../../subgraphs/http/html.ts'
import type { AppPages, PageOf } from '../shell/pages.ts'
import type { Built } from './built.ts'
import { directionOf, type Language, type Words } from './words.ts'

/** What every document of an app needs. */
export interface DocumentNeeds {
  readonly pages: AppPages
  readonly built: Built
  readonly words: Words
  readonly language: Language
  /** What stands before each path: nothing on the app's own host. */
  readonly base: string
  readonly nonce: string
}

/**
 * A page of a workspace: its frame and the shape of what is to come, until its scripts draw both. It says nothing of anybody.
 * @param options.shownAs the name under which its scripts find it, where they do more than draw it @default its own
 */
export function shellDocument(needs: DocumentNeeds, name: string, page: PageOf, { shownAs = name } = {}): string {
  const { pages, built, words, language, base } = needs
  const { entry, chunks, words: said } = built.pages[`${pages.app}.${name}`]!
  const preloads = [...chunks, ...said[language]].map(file => `<link rel="modulepreload" href="/assets/${file}">`)
  const title = words[page.title]!
  const body = `<div id="app">
<a class="skip" href="#content">${escaped(words['frame.skip']!)}</a>
${rail(pages, words, base, page)}
<header class="bar"></header>
<main id="content" tabindex="-1"><div class="title"><h1>${escaped(title)}</h1></div>${skeletons[page.skeleton]}</main>
</div>
<noscript><p>${escaped(words['frame.script']!)}</p></noscript>
<script type="module" src="/assets/${entry}"></script>`
  return documentOf(needs, shownAs, title, preloads.join('\n'), body)
}

/** Where the sign-in page leads. */
export interface SignInLinks {
  /** What takes address and password, on this page's origin. */
  readonly takes: string
  readonly register: string
  readonly forgot: string
  readonly hosted: string
}

/** Where a person signs in: plain HTML, and a script that stands before the form. */
export function signInDocument(needs: DocumentNeeds, links: SignInLinks): string {
  const { words } = needs
  const word = (key: string) => escaped(words[`sign-in.${key}`]!)
  const main = `<h1>${word('title')}</h1>
<form method="post" action="${escaped(links.takes)}">
${alert(words, ['wrong', 'wait', 'away'])}
<div class="field"><label for="email">${word('email')}</label><input id="email" name="email" type="email" autocomplete="username" required autofocus></div>
<div class="field"><label for="password">${word('password')}</label><input id="password" name="password" type="password" autocomplete="current-password" required></div>
<button class="button primary" type="submit">${word('submit')}</button>
</form>
<p class="links"><a href="${escaped(links.register)}">${word('create')}</a> <a href="${escaped(links.forgot)}">${word('forgot')}</a> <a href="${escaped(links.hosted)}">${word('hosted')}</a></p>`
  return signInPage(needs, 'login', words['sign-in.title']!, main)
}

/** Where a handoff from another app arrives. */
export function callbackDocument(needs: DocumentNeeds): string {
  const { pages, words, base } = needs
  const title = words['sign-in.callback']!.replace('{app}', words[pages.title]!)
  const main = `<h1>${escaped(title)}</h1>
${alert(words, ['refused', 'away'])}
<div data-state="loading" aria-busy="true" class="bones"><div class="bone"></div><div class="bone half"></div></div>
<p class="links"><a href="${base}/login">${escaped(words['sign-in.again']!)}</a> <a href="${base}${pages.start}">${escaped(words['sign-in.back']!)}</a></p>`
  return signInPage(needs, 'callback', title, main)
}

/** Says that there is no such page, with the ways on. */
export function lostDocument(needs: DocumentNeeds): string {
  const { pages, words, base } = needs
  const title = words['lost.title']!
  const body = `<div id="app">
<a class="skip" href="#content">${escaped(words['frame.skip']!)}</a>
${rail(pages, words, base, null)}
<header class="bar"></header>
<main id="content" tabindex="-1"><div class="title"><h1>${escaped(title)}</h1></div><section class="region"><p>${escaped(words['lost.sentence']!)}</p></section></main>
</div>`
  return documentOf(needs, 'lost', title, '', body)
}

const alert = (words: Words, sentences: readonly string[]): string =>
  `<p role="alert" hidden${sentences.map(key => ` data-${key}="${escaped(words[`sign-in.${key}`]!)}"`).join('')}></p>`

function signInPage(needs: DocumentNeeds, name: string, title: string, main: string): string {
  const { pages, built, words } = needs
  const body = `<div class="sign-in"><main id="content"><p class="brand">${escaped(words[pages.title]!)}</p>${main}</main></div>
<noscript><p>${escaped(words['frame.script']!)}</p></noscript>`
  return documentOf(needs, name, title, `<script src="/assets/${built.login}"></script>`, body)
}

function rail({ app, title, pages }: AppPages, words: Words, base: string, current: PageOf | null): string {
  const shown = Object.values(pages).filter(({ icon, isForPlatform }) => icon && !isForPlatform)
  const item = (page: PageOf) =>
    `<li><a href="${base}${page.paths[0]}"${page === current ? ' aria-current="page"' : ''}><span class="glyph"></span><span class="label">${escaped(words[page.title]!)}</span></a></li>`
  return `<nav class="rail${shown.length > 4 ? ' many' : ''}" aria-label="${escaped(words[title]!)}"><a class="mark" href="${base}/"><span class="label">${escaped(words[`app.${app}`]!)}</span></a><ul>${shown.map(item).join('')}</ul></nav>`
}

const bones = (count: number) => `<div class="bones">${'<div class="bone"></div>'.repeat(count)}</div>`
const region = (shape: string, content: string) => `<section class="${shape}" data-state="loading" aria-busy="true">${content}</section>`

/** The shapes of pages before they are there. */
const skeletons: Readonly<Record<PageOf['skeleton'], string>> = {
  table: region('region flush', bones(8)),
  grid: `<div class="widgets">${region('region widget', bones(4)).repeat(4)}</div>`,
  form: region('region', bones(6)),
}

function documentOf({ pages, built, language, base, nonce, words }: DocumentNeeds, name: string, title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}" data-app="${pages.app}" data-page="${pages.app}.${name}" data-base="${base}" data-start="${pages.start}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta property="csp-nonce" nonce="${nonce}" content="${nonce}">
<title>${escaped(title)} · ${escaped(words[pages.title]!)}</title>
<link rel="icon" href="data:,">
${pages.installs ? `<link rel="manifest" href="${base}/manifest.webmanifest">\n` : ''}<link rel="stylesheet" href="/assets/${built.style}">
${head}
</head>
<body>
${body}
</body>
</html>
`
}
