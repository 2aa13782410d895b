/** The caller that registers or requests a document. */
export interface Registrant {
  /** Name under which the caller's use is counted (`callerName`). */
  readonly name: string
  /** Whether the platform knows the caller. */
  readonly isKnown: boolean
}

/** Texts of documents that clients registered, by their SHA-256: Apollo's automatic persisted queries. */
export interface Registered {
  /** Returns the text, or a promise where the text is looked up in other processes. */
  find(hash: string, caller: Registrant): string | undefined | Promise<string | undefined>
  /**
   * Registers a text. Returns a promise where other processes store it as well: the next request may reach one of them.
   */
  keep(hash: string, text: string, caller: Registrant): void | Promise<void>
}

/** A store of documents in this process alone. */
export interface OwnRegistered extends Registered {
  find(hash: string, caller: Registrant): string | undefined
  keep(hash: string, text: string, caller: Registrant): void
}

/** A store that several processes share. Neither call fails: a store that does not answer in time has nothing. */
export interface SharedRegistered {
  find(hash: string, caller: Registrant): Promise<string | undefined>
  keep(hash: string, text: string, caller: Registrant): Promise<void>
}

/**
 * Maximum number of texts kept for known callers, and as many for anonymous ones; and the approximate maximum bytes of
 * each group.
 */
const maxKept = { entries: 5000, bytes: 16 * 1024 * 1024 }

/**
 * Stores registered documents in this process. Anonymous callers' documents are stored separately, so that they never
 * displace those of known callers. When a store is full, the caller with the largest share loses its least recently
 * used document, so no caller displaces the documents of others. A dropped document is answered with
 * PERSISTED_QUERY_NOT_FOUND, and its client sends it again.
 */
export function createRegistered(limits = maxKept): OwnRegistered {
  const [ofKnown, ofStrangers] = [createShelf(limits), createShelf(limits)]
  return {
    find(hash, { name, isKnown }) {
      const known = ofKnown.get(hash)
      if (known !== undefined) return known
      const text = ofStrangers.get(hash)
      // Stores a copy, so that the other organization's document keeps its own lifetime.
      if (isKnown && text !== undefined) ofKnown.set(hash, text, name)
      return text
    },
    keep(hash, text, { name, isKnown }) {
      if (ofKnown.get(hash) === undefined) (isKnown ? ofKnown : ofStrangers).set(hash, text, name)
    },
  }
}

/** Stores documents in this process and in the store that neighbouring processes share. */
export function shareRegistered(own: OwnRegistered, shared: SharedRegistered): Registered {
  return {
    find(hash, caller) {
      const text = own.find(hash, caller)
      if (text !== undefined) return text
      return shared.find(hash, caller).then(found => {
        if (found !== undefined) own.keep(hash, found, caller)
        return found
      })
    },
    keep(hash, text, caller) {
      // A local document came from the shared store or was written to it.
      if (own.find(hash, caller) !== undefined) return
      own.keep(hash, text, caller)
      return shared.keep(hash, text, caller)
    },
  }
}

interface Owner {
  bytes: number
  /** Hashes of the owner's texts, the least recently used first. */
  readonly hashes: Set<string>
}

function createShelf({ entries, bytes }: typeof maxKept) {
  const texts = new Map<string, { readonly text: string; readonly owner: string }>()
  /** The least recently used first. */
  const owners = new Map<string, Owner>()
  let taken = 0

  const use = (hash: string, owner: string): Owner => {
    const found = owners.get(owner) ?? { bytes: 0, hashes: new Set() }
    owners.delete(owner)
    owners.set(owner, found)
    found.hashes.delete(hash)
    found.hashes.add(hash)
    return found
  }
  /** Drops the least recently used text of the owner with the most texts, or the most bytes. */
  const drop = (measure: (owner: Owner) => number) => {
    const [name, owner] = [...owners].reduce((most, each) => (measure(each[1]) > measure(most[1]) ? each : most))
    const [hash] = owner.hashes as unknown as [string]
    const size = sizeOf(texts.get(hash)!.text)
    texts.delete(hash)
    owner.hashes.delete(hash)
    owner.bytes -= size
    taken -= size
    if (owner.hashes.size === 0) owners.delete(name)
  }
  return {
    get(hash: string): string | undefined {
      const known = texts.get(hash)
      if (known) use(hash, known.owner)
      return known?.text
    },
    set(hash: string, text: string, owner: string): void {
      if (this.get(hash) !== undefined) return
      texts.set(hash, { text, owner })
      use(hash, owner).bytes += sizeOf(text)
      taken += sizeOf(text)
      while (taken > bytes) drop(each => each.bytes)
      while (texts.size > entries) drop(each => each.hashes.size)
    },
  }
}

/** Approximate bytes of memory that a text takes. */
const sizeOf = (text: string): number => 2 * text.length + 200
