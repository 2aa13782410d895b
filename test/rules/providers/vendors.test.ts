import { expect, test } from 'vitest'
import { trialOf } from '../../../subgraphs/providers/credential/trial.ts'
import { addressesFrom } from '../../../subgraphs/providers/engines/third-party/addresses.ts'
import { isModelVendor, providerNames } from '../../../subgraphs/providers/engines/third-party/catalogue.ts'
import { sourceNames } from '../../../subgraphs/providers/model/sync/shown.ts'

const nothingSaid = {
  ...{ openai: null, anthropic: null, google: null, stripe: null, youtube: null, modelsDev: null },
  ...{ aiGatewayUrl: null, aiGatewayToken: null, studio: null },
}
const vendors = providerNames.filter(isModelVendor)

test('model vendors are the providers with an address of their own', () => {
  expect(vendors).toEqual(['openai', 'anthropic', 'google'])
})

test.each(vendors)('%s is called at its address, tested there with a key, and asked for its models', async provider => {
  const thirdParties = addressesFrom(nothingSaid, null)
  const tried: string[] = []
  const outbound = async (url: string | URL) => {
    tried.push(String(url))
    return { status: 200, headers: new Headers(), text: '{}' } as never
  }
  const trial = await trialOf({ outbound, dial: () => expect.fail('no mail'), thirdParties }, { provider, baseUrl: null, plain: {} }, 'a key')
  expect([trial.status, tried.length, tried[0]!.startsWith(`${thirdParties[provider]}/`)]).toEqual(['WORKING', 1, true])
  expect(thirdParties[provider]).toMatch(/^https:/)
  expect(sourceNames).toContain(provider)
})
