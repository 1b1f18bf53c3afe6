import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Place, UseOrder } from '../../src/rules/use-order.ts';

test('members come in the order of their last use, whatever was added, used and deleted before', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('add or use', 'delete'), fc.nat(4)), { maxLength: 40 });
  fc.assert(fc.property(steps, (all) => {
    const order = new UseOrder<number>();
    const places = Array.from({ length: 5 }, (_, member) => new Place(member));
    let expected: number[] = [];
    for (const [step, member] of all) {
      const place = places[member] ?? new Place(member);
      const known = expected.includes(member);
      expected = expected.filter((each) => each !== member);
      if (step === 'add or use') {
        if (known) order.use(place);
        else order.add(place);
        expected.push(member);
      } else if (known) order.delete(place);
      expect(order.size).toBe(expected.length);
    }
    for (const member of expected) {
      expect(order.oldest).toBe(member);
      order.delete(places[member] ?? new Place(member));
    }
    expect(order.oldest).toBeUndefined();
  }));
});
