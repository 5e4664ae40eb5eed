// Generics, closures, traits and standard containers, to look up.
use std::collections::HashMap;

trait Price {
    fn price(&self) -> u64;
}

#[derive(Clone, Debug)]
struct Item {
    name: String,
    cents: u64,
}

impl Price for Item {
    fn price(&self) -> u64 {
        self.cents * 3 + self.name.len() as u64
    }
}

fn sum<T: Price>(items: &[T]) -> u64 {
    items.iter().map(|item| item.price()).sum()
}

fn main() {
    let mut baskets: HashMap<String, Vec<Item>> = HashMap::new();
    for i in 0..200u64 {
        let basket = baskets.entry(format!("basket {}", i % 7)).or_default();
        basket.push(Item { name: format!("thing {i}"), cents: i % 50 });
        basket.sort_by(|a, b| a.cents.cmp(&b.cents).then_with(|| a.name.cmp(&b.name)));
    }
    let total: u64 = baskets.values().map(|basket| sum(basket)).sum();
    println!("{total}");
}
