import { escaped } from '../../../subgraphs/http/html.ts'
import { packages, products, type SitePage, site, unfinished } from '../../marketing/pages.ts'
import type { Built } from '../built.ts'
import { directionOf, type Language, type Words } from '../words.ts'

/** What every document of the site needs. */
export interface SiteNeeds {
  readonly built: Built
  readonly words: Words
  readonly language: Language
  /** What stands before each path: nothing on the site's own host. */
  readonly base: string
  readonly nonce: string
  /** Where people sign in to their workspaces. */
  readonly signIn: string
}

type Write = (key: string) => string

/** Writes a page of the site. @param parameter the last part of its address, where that varies @returns null where there is no such page */
export function siteDocument(needs: SiteNeeds, name: string, parameter: string | null): string | null {
  const page = site[name]!
  if (name === 'checkout' && !(packages as readonly (string | null)[]).includes(parameter)) return null
  const word: Write = key => escaped(needs.words[key] ?? '')
  const bodies = { home: () => home(needs, word), product: () => product(needs, name, word), points: () => pointsPage(needs, name, page, word) }
  const body = page.shape === 'form' ? form(name, page, word) : page.shape === 'plain' ? plain(needs, name, page, word, parameter) : bodies[page.shape]()
  return documentOf(needs, { name, path: page.path, title: word(`${name}.title`), description: word(`${name}.description`) }, word, body)
}

/** There is no such page on the site. */
export function lostSiteDocument(needs: SiteNeeds): string {
  const word: Write = key => escaped(needs.words[key] ?? '')
  const body = hero(word('lost.title'), word('lost.sentence'), link(needs, '/', word('app.marketing'), 'primary'))
  return documentOf(needs, { name: 'lost', path: '', title: word('lost.title'), description: word('lost.sentence') }, word, body)
}

const link = ({ base }: SiteNeeds, path: string, text: string, kind: 'primary' | 'secondary' | '' = ''): string =>
  `<a${kind && ` class="button ${kind}"`} href="${base}${path}">${text}</a>`

const hero = (title: string, lead: string, actions: string): string =>
  `<div class="hero"><h1>${title}</h1><p class="lead">${lead}</p>${actions && `<div class="actions">${actions}</div>`}</div>`

function actionsOf(needs: SiteNeeds, { action }: SitePage, word: Write): string {
  if (action === 'none') return ''
  if (action === 'developers')
    return `${link(needs, '/developers/signup', word('developers.sign-up'), 'primary')}<a class="button secondary" href="/docs">${word('site.docs')}</a>`
  const signUp = link(needs, '/signup', word('site.sign-up'), action === 'demo' ? 'secondary' : 'primary')
  const demo = link(needs, '/demo', word('site.demo'), action === 'demo' ? 'primary' : 'secondary')
  return action === 'demo' ? `${demo}${signUp}` : `${signUp}${demo}`
}

const points = (items: readonly string[]): string => `<ul class="points">${items.map(item => `<li>${item}</li>`).join('\n')}</ul>`

const threePoints = (name: string, word: Write, badge: (number: number) => string = () => ''): string =>
  points([1, 2, 3].map(number => `<h2>${word(`${name}.${number}`)}</h2><p>${word(`${name}.${number}.text`)}</p>${badge(number)}`))

const home = (needs: SiteNeeds, word: Write): string =>
  `${hero(word('home.title'), word('home.lead'), actionsOf(needs, site.home!, word))}
${points(products.map(name => `<h2>${word(`${name}.title`)}</h2><p>${word(`${name}.description`)}</p>${link(needs, `/product/${name}`, `${word('site.more')}<span class="unseen">: ${word(`${name}.title`)}</span>`)}`))}`

const product = (needs: SiteNeeds, name: string, word: Write): string =>
  `${hero(word(`${name}.title`), word(`${name}.description`), actionsOf(needs, site[name]!, word))}
${threePoints(name, word, number =>
  unfinished.has(name) && number === 3
    ? `<span class="status warning">${word('site.later')}</span>${link(needs, '/waitlist', word('site.waitlist'))}`
    : `<span class="status positive">${word('site.now')}</span>`,
)}`

const pointsPage = (needs: SiteNeeds, name: string, page: SitePage, word: Write): string =>
  `${hero(word(`${name}.title`), word(`${name}.lead`), actionsOf(needs, page, word))}
${threePoints(name, word)}`

const plain = (needs: SiteNeeds, name: string, page: SitePage, word: Write, parameter: string | null): string =>
  hero(
    parameter === null ? word(`${name}.title`) : word(`package.${parameter}`),
    word(`${name}.lead`).replace('{name}', parameter === null ? '' : word(`package.${parameter}`)),
    actionsOf(needs, page, word),
  )

/** Fields of forms that may be left empty. */
const optional: ReadonlySet<string> = new Set(['company'])

const autocomplete: Readonly<Record<string, string>> = {
  name: 'name',
  email: 'email',
  company: 'organization',
  message: 'off',
  code: 'one-time-code',
  startsAt: 'off',
}

function form(name: string, page: SitePage, word: Write): string {
  const { to, hidden = {}, fields, verb, isOpen } = page.form!
  const field = (each: string) => {
    const shared = `id="${each}" name="${each}" autocomplete="${autocomplete[each]}"${optional.has(each) ? '' : ' required'}`
    const input =
      each === 'startsAt'
        ? `<select ${shared} disabled><option value="">${word('form.no-slots')}</option></select>`
        : each === 'message'
          ? `<textarea ${shared} rows="6" maxlength="4000"></textarea>`
          : `<input ${shared} type="${each === 'email' ? 'email' : 'text'}" maxlength="${each === 'name' ? 80 : 200}">`
    return `<div class="field"><label for="${each}">${word(`form.${each}`)}</label>${input}</div>`
  }
  const results = ['sending', 'sent', 'closed', 'away', 'refused', 'slow', 'taken'].map(each => ` data-${each}="${word(`form.${each}`)}"`).join('')
  return `${hero(word(`${name}.title`), word(`${name}.description`), '')}
<noscript><p>${word('form.noscript')}</p></noscript>
<form method="post" action="${to}"${isOpen ? ' data-open' : ''}>
${Object.entries(hidden)
  .map(([each, value]) => `<input type="hidden" name="${each}" value="${value}">`)
  .join('')}
${fields.map(field).join('\n')}
<div class="trap" aria-hidden="true"><label for="website">${word('form.trap')}</label><input id="website" name="website" tabindex="-1" autocomplete="off"></div>
<p role="status" hidden${results}></p>
<button class="button primary" type="submit">${word(verb)}</button>
</form>`
}

interface Shown {
  readonly name: string
  readonly path: string
  readonly title: string
  readonly description: string
}

function documentOf(needs: SiteNeeds, { name, path, title, description }: Shown, word: Write, body: string): string {
  const { built, language, base, nonce, signIn } = needs
  const place = (to: string, key: string) => `<a href="${base}${to}"${to === path ? ' aria-current="page"' : ''}>${word(key)}</a>`
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}" data-app="marketing" data-page="marketing.${name}" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<meta property="csp-nonce" nonce="${nonce}" content="${nonce}">
<title>${title} · ${word('app.marketing')}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/${built.style}">
<script src="/assets/${built.site}" defer></script>
</head>
<body class="site">
<header><a class="skip" href="#content">${word('frame.skip')}</a><a class="home" href="${base}/">${word('app.marketing')}</a>
<nav aria-label="${word('site.nav')}">${place('/pricing', 'site.pricing')}${place('/developers', 'site.developers')}${place('/enterprise', 'site.enterprise')}</nav>
<a href="${escaped(signIn)}">${word('site.sign-in')}</a><a class="button primary" href="${base}/signup">${word('site.sign-up')}</a></header>
<main id="content" tabindex="-1">
${body}
</main>
<footer><nav aria-label="${word('site.foot')}">${products.map(each => place(`/product/${each}`, `${each}.title`)).join('')}${['privacy', 'feedback', 'contact', 'waitlist'].map(each => place(`/${each}`, `site.${each}`)).join('')}<button type="button" data-cookies>${word('site.cookies')}</button></nav></footer>
<section class="consent" aria-label="${word('consent.title')}" hidden>
<div><p>${word('consent.text')} ${link(needs, '/privacy', word('consent.more'))}</p></div>
<div class="actions"><button class="button secondary" type="button" data-decision="accept">${word('consent.accept')}</button><button class="button secondary" type="button" data-decision="decline">${word('consent.decline')}</button></div>
</section>
</body>
</html>
`
}
