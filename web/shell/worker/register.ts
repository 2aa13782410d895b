import { base } from '../place.ts'

interface Policy {
  createScriptURL(address: string): string
}

/** The one policy of Trusted Types: it lets the own worker pass, and nothing else. */
const policy = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }).trustedTypes?.createPolicy('supergraph', {
  createScriptURL(address) {
    if (address !== `${base}/sw.js`) throw new TypeError(`${address} is no script of these pages`)
    return address
  },
})

/** Lets the pages be installed, and open without a network. It begins when the page is drawn, and fails without a word. */
export function registerWorker(): void {
  if (!('serviceWorker' in navigator)) return
  const address = `${base}/sw.js`
  navigator.serviceWorker.register(policy ? policy.createScriptURL(address) : address).catch(() => {})
}
