import { describe, expect, it } from 'vitest'
import { apps } from '../../web/serve/apps.ts'
import { browserPath } from '../browser/browser.ts'
import { signIn } from '../kit/client.ts'
import { isAsked, openWeb, pagesOf } from './visit.ts'

const create = (noun: string) => `mutation($input: Create${noun}Input!) { create${noun}(input: $input) { id } }`
const hostile = `</title></script><script>window.taken=1</script><img src=x onerror="window.taken=1"><svg onload=window.taken=1>`
const shortly = '</title><img src=x onerror=window.taken=1>'
const address = 'javascript:window.taken=1'

describe.runIf(isAsked && browserPath)('texts that people wrote', () => {
  it('run as a script on no page, and lead to no script', async () => {
    await using stack = new AsyncDisposableStack()
    const web = await openWeb(stack)
    const owner = await signIn(web.launcher.replace('launcher.', ''), 'owner@demo.test')
    const make = async (noun: string, input: object) => (await owner.query<Record<string, { id: string }>>(create(noun), { input }))[`create${noun}`]!.id
    const refuses = (noun: string, input: object) => expect(make(noun, input)).rejects.toThrow('BAD_USER_INPUT')
    const brandId = await make('Brand', { name: shortly })
    await make('Post', { brandId, platform: 'X', copy: hostile, title: shortly })
    await make('Order', { currency: 'EUR', description: hostile, lines: [{ name: shortly, quantity: 1, unitAmountMinor: '100' }] })
    await make('Customer', { name: shortly, email: 'hostile@example.test' })
    await make('Workflow', { name: shortly, description: hostile, trigger: { kind: 'MANUAL' }, steps: [] })
    await make('PersonProfile', { displayName: shortly, personaRules: [hostile] })
    await refuses('Post', { brandId, platform: 'X', copy: 'A link', link: address })
    const { page, enter, violations } = await web.visit()
    for (const { app, ...rest } of apps)
      for (const { paths } of pagesOf(rest)) {
        if (paths[0]!.includes('/:')) continue
        await enter(`${web[app]}${paths[0]}`)
        expect(await page.evaluate('window.taken'), paths[0]).toBeUndefined()
        expect(await page.locator('[href^="javascript:" i], [src^="javascript:" i], [action^="javascript:" i]').count(), paths[0]).toBe(0)
      }
    expect(await violations()).toEqual([])
  }, 300_000)
})
