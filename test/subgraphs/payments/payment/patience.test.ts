import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownSupergraph } from '../../../../router/start/engine.ts'
import { takeApart } from '../../../../schema/source/source-text.ts'
import { answerMs } from '../../../../subgraphs/payments/engines/payment/processor.ts'
import { mostMs } from '../../../../subgraphs/providers/processor/stripe/client.ts'
import { openShop } from './stage.ts'

const root = join(import.meta.dirname, '../../../..')
const payments = 'subgraphs/payments'

/** One top-level declaration of a file: its code without comments and literals. */
interface Declaration {
  readonly file: string
  readonly code: string
}

/** Every declaration of payments under `file name`, and what names stand for in each file, by its imports. */
function readDeclarations() {
  const declarations = new Map<string, Declaration>()
  const imports = new Map<string, Map<string, string>>()
  for (const file of globSync(`${payments}/**/*.ts`, { cwd: root, exclude: path => path.endsWith('generated.ts') })) {
    const source = readFileSync(join(root, file), 'utf8')
    const known = new Map<string, string>()
    imports.set(file, known)
    for (const [, names, from] of source.matchAll(/^import \{([^}]*)\} from '(\.[^']*)'/gm)) {
      const target = relative(root, join(root, dirname(file), from!))
      for (const name of names!.split(',').map(each => each.trim())) if (name && !name.startsWith('type ')) known.set(name, `${target} ${name}`)
    }
    for (const part of takeApart(source).code.split(/^(?=\S)/m)) {
      const name = /^(?:export )?(?:async )?(?:function\*?|const) (\w+)/.exec(part)?.[1]
      // What is not waited for takes none of an answer's time. A closing line belongs to the declaration before it.
      if (name) declarations.set(`${file} ${name}`, { file, code: part.replace(/^\s*(?:if \(\w+\) )?void .*$/gm, '') })
      else if (declarations.size > 0) {
        const [key, last] = [...declarations].at(-1)!
        if (last.file === file) declarations.set(key, { file, code: last.code + part })
      }
    }
  }
  return { declarations, imports }
}

const { declarations, imports } = readDeclarations()

/** Services of payments that call the gateway to providers; without the mailer, for which no request waits. */
const gateways = [...declarations.get(`${payments}/nouns/services.ts services`)!.code.matchAll(/(\w+): \w+By\(ask\)/g)]
  .map(([, name]) => name!)
  .filter(name => name !== 'mailer')
/** A call of one of them, a question to the gateway, or a request to another's address. */
const waits = new RegExp(`\\b(?:${gateways.join('|')})\\.\\w+\\(|\\bforOrganization\\(|\\bsend\\(\\{ way\\b`)

/** Whether code of a file may wait for the processor, directly or in what it calls. */
function mayWait({ file, code }: Declaration, seen = new Set<string>()): boolean {
  if (waits.test(code)) return true
  for (const [name] of code.matchAll(/(?<!\.)\b[a-zA-Z]\w*\b/g)) {
    const key = imports.get(file)?.get(name) ?? `${file} ${name}`
    const next = declarations.get(key)
    if (!next || seen.has(key)) continue
    seen.add(key)
    if (mayWait(next, seen)) return true
  }
  return false
}

/** Code of each resolver of a root type. */
function resolversOf(type: 'Mutation' | 'Query'): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>()
  for (const { file, code } of declarations.values())
    for (const [, block] of code.matchAll(new RegExp(`^  ${type}: \\{\\n([\\s\\S]*?)^  \\}`, 'gm')))
      for (const part of block!.split(/^ {4}(?=\w)/m)) {
        const name = /^(?:async )?(\w+)/.exec(part)?.[1]
        if (name) found.set(name, { file, code: part.slice(part.indexOf(name) + name.length) })
      }
  return found
}

describe('the time of fields that wait for the processor', () => {
  const { patience, schema } = ownSupergraph()
  const ofMutations = resolversOf('Mutation')

  it('finds the resolver of every mutation of payments', () => {
    const sdl = readFileSync(join(root, 'schema/subgraphs/payments.graphql'), 'utf8')
    const blocks = [...sdl.matchAll(/^(?:extend )?type Mutation\b[^{]*\{\n([\s\S]*?)^\}/gm)].map(([, block]) => block!)
    const declared = blocks.flatMap(block => [...block.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name!))
    expect(declared.length).toBeGreaterThan(40)
    expect(declared.filter(name => !ofMutations.has(name))).toEqual([])
  })

  it.each(['Mutation', 'Query'] as const)('is longer than the gateway’s answer may take, and others of %s have the usual time', type => {
    const all = [...resolversOf(type)]
    const waiting = all.filter(([, declaration]) => mayWait(declaration)).map(([name]) => name)
    if (type === 'Mutation') expect(waiting).toEqual(expect.arrayContaining(['payOrder', 'approveRefund', 'createCheckoutSession', 'addPaymentMethod']))
    const short = waiting.filter(name => (patience.get(`${type}.${name}`) ?? 0) <= answerMs + 5_000)
    expect(short).toEqual([])
    expect(all.map(([name]) => name).filter(name => patience.has(`${type}.${name}`) && !waiting.includes(name))).toEqual([])
  })

  it('is longer for the caller than for the gateway, and for the gateway than for the processor', () => {
    const asked = [...schema.getMutationType()!.astNode!.fields!, ...schema.getQueryType()!.astNode!.fields!]
      .map(({ name }) => name.value)
      .filter(name => /^(?!create\w*Session$)\w*[pP]rocessor[A-Z]/.test(name))
    expect(asked.length).toBeGreaterThan(15)
    for (const name of asked) {
      const ms = patience.get(`Mutation.${name}`) ?? patience.get(`Query.${name}`) ?? 0
      expect(ms, name).toBeGreaterThan(mostMs)
      expect(ms, name).toBeLessThan(answerMs)
    }
  })
})

describe('a slow processor with subgraphs apart', () => {
  it('is waited for past the time limit of a fetch, at every call', async () => {
    await using shop = await openShop({ apart: { fetchMs: 1_000 } })
    const slow = () => shop.arm('slow', { delayMs: 1_500 })
    const [first, second] = [await shop.order(), await shop.order()]
    await slow()
    expect(await shop.pay(first.id)).toMatchObject({ status: 'PAID', paymentPhase: 'NONE' })
    await slow()
    expect(await shop.change('refundOrder', { orderId: first.id, reason: 'OTHER' }, shop.owner, 'status')).toEqual({ status: 'SUCCEEDED' })
    await slow()
    const addresses = { successUrl: 'https://shop.test/thanks', cancelUrl: 'https://shop.test/back' }
    expect(await shop.change('createCheckoutSession', { orderId: second.id, ...addresses }, shop.owner, 'status url')).toMatchObject({
      ...{ status: 'OPEN', url: expect.stringContaining('http') },
    })
  }, 60_000)

  it('is answered for with PROCESSING when the engine has waited long enough, and the outcome is recorded all the same', async () => {
    await using shop = await openShop({ apart: { fetchMs: 1_000 } })
    const { id } = await shop.order()
    await shop.arm('slow', { delayMs: 9_500 })
    expect(await shop.pay(id)).toMatchObject({ status: 'PENDING', paymentPhase: 'PROCESSING' })
    await expect.poll(() => shop.read(id), { timeout: 20_000 }).toMatchObject({ status: 'PAID', paymentPhase: 'NONE' })
    expect(await shop.received(id, 'payment_intents')).toHaveLength(1)
  }, 60_000)
})
