/** Why something does not work at present, in words that everybody may read: readiness shows its message. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
}
