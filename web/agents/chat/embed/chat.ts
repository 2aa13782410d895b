/**
 * The public chat on a page of anybody: `<script src="…/embed/chat.js" data-site="…" data-persona="…" async></script>`. It is drawn in a tree of its
 * own, sets no cookie and keeps nothing in the browser. Texts are set as texts, links lead to http and https alone.
 */
import { look } from './look.ts'
import { type Answer, createTalk, Unanswered } from './talk.ts'
import { type ChatWords, wordsOf } from './words.ts'

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** A link of a record; nothing for an address that no page may lead to. */
function link(label: string, url: string | null): Node {
  if (url === null || !/^https?:\/\//i.test(url)) return element('span', { textContent: label })
  return element('a', { textContent: label, href: url, target: '_blank', rel: 'noopener noreferrer' })
}

function begin(script: HTMLScriptElement): void {
  const { site = null, persona: wanted = null } = script.dataset
  const talk = createTalk(new URL('../api/public/chat', script.src).href, site, wanted)
  const words = wordsOf(document.documentElement.lang || navigator.language)
  const host = document.createElement('supergraph-chat')
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(look)
  root.adoptedStyleSheets = [sheet]
  const opener = element('button', { type: 'button', textContent: words.open })
  const closer = element('button', { type: 'button', className: 'quiet', textContent: words.close })
  const heading = element('h2', { textContent: words.open, id: 'name' })
  const said = element('div', { tabIndex: 0, className: 'said' })
  said.role = 'log'
  said.ariaLabel = words.open
  const field = element('textarea', { rows: 2, maxLength: 4000, required: true })
  const submit = element('button', { type: 'submit', textContent: words.send })
  const line = element('p', { className: 'small wrong' })
  line.role = 'status'
  const form = element('form', {}, element('label', {}, words.message, field), line, submit)
  const panel = element('section', { hidden: true }, element('header', {}, heading, closer), said, form)
  panel.role = 'dialog'
  panel.setAttribute('aria-labelledby', 'name')
  root.append(opener, panel)
  document.body.append(host)
  let [name, isGreeted] = [words.open, false]

  const show = (isOpen: boolean) => {
    panel.hidden = !isOpen
    opener.hidden = isOpen
    ;(isOpen ? field : opener).focus()
    if (isOpen) void greet()
  }
  const tell = (error: unknown) => {
    const { why, seconds } = error instanceof Unanswered ? error : new Unanswered('away')
    line.textContent = words[why].replace('{seconds}', String(seconds))
  }
  async function greet(): Promise<void> {
    if (!crypto.subtle) {
      line.textContent = words.browser
      submit.disabled = true
      return
    }
    talk.prepare()
    if (isGreeted) return
    isGreeted = true
    try {
      const personas = await talk.personas()
      const persona = personas.find(each => (wanted === null ? each.default : each.slug === wanted))
      if (!persona) return
      name = persona.name
      heading.textContent = name
      if (persona.greeting)
        said.append(element('div', {}, element('p', { className: 'small', textContent: name }), element('p', { textContent: persona.greeting })))
    } catch (error) {
      isGreeted = false
      tell(error)
    }
  }
  async function ask(): Promise<void> {
    const message = field.value.trim()
    if (message === '' || submit.disabled) return
    const [mine, reply, text] = [element('div', { className: 'you' }), element('div'), element('p')]
    mine.append(element('p', { className: 'small', textContent: words.you }), element('p', { textContent: message }))
    reply.append(element('p', { className: 'small', textContent: name }), text)
    reply.ariaBusy = 'true'
    text.textContent = words.writing
    said.append(mine, reply)
    said.scrollTop = said.scrollHeight
    // The button is off while the answer comes: whoever pressed it goes on in the field.
    field.focus()
    submit.disabled = true
    line.textContent = ''
    try {
      const answer = await talk.ask(message, grown => {
        text.textContent = grown
      })
      field.value = ''
      text.textContent = answer.message.text
      reply.append(...partsOf(answer, words, helpful => talk.judge(answer.message.id, helpful)))
      reply.ariaBusy = 'false'
    } catch (error) {
      // The question stays in its field.
      mine.remove()
      reply.remove()
      tell(error)
    }
    submit.disabled = false
    talk.prepare()
  }
  opener.addEventListener('click', () => show(true))
  closer.addEventListener('click', () => show(false))
  panel.addEventListener('keydown', event => event.key === 'Escape' && show(false))
  field.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })
  form.addEventListener('submit', event => {
    event.preventDefault()
    void ask()
  })
}

/** What stands below an answer: what it rests on, where it leads, and the visitor's verdict. */
function partsOf({ message: { notice }, sources, actions }: Answer, words: ChatWords, judge: (helpful: boolean) => Promise<void>): readonly Node[] {
  const verdict = element('p')
  for (const [helpful, label] of [
    [true, words.helpful],
    [false, words.unhelpful],
  ] as const) {
    const button = element('button', { type: 'button', className: 'quiet', textContent: label })
    button.addEventListener('click', () => void judge(helpful).then(() => verdict.replaceChildren(words.thanks)))
    verdict.append(button, ' ')
  }
  return [
    ...(notice ? [element('p', { className: 'small', textContent: notice })] : []),
    ...sources.map(({ title, url }) => element('p', { className: 'small' }, link(title, url))),
    ...actions.map(({ label, url }) => element('p', {}, link(label, url))),
    verdict,
  ]
}

const script = document.currentScript
if (script instanceof HTMLScriptElement) {
  if (document.body) begin(script)
  else addEventListener('DOMContentLoaded', () => begin(script))
}
